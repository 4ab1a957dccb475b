// The six task benchmarks of bench/las as what their bytes and operations cost: plain tasks whose depend clauses name
// blocks of graph.h; one thread creates them all. Caches are not pretended, so each task brings its blocks from memory.
//
//   tasks initial|parallel|interleaved BENCHMARK NAME=VALUE...
//
// Before, the initial thread touches all memory, or a static loop over the blocks of each array does, or its pages are
// dealt out over the nodes as numactl --interleave does. Then checks that each task ran once, after all that its
// clauses name. Prints a line of JSON: milliseconds of the pretended machine, tasks, bytes by node and home.
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

// By unit: how often it was used, and when that was done (seconds), so far; a task writes what it depends on alone.
struct use {
  _Atomic int reads, writes;
  _Atomic double read_until, written_until;
};
static struct use* uses;
// By entry of graph.read and graph.write: how often the unit has been written, and read since then, before.
struct before {
  int reads, writes;
};
static struct before *before_read, *before_write;
static _Atomic int* runs;
static double* created;

static void* zeroed(int count, size_t each) {
  void* memory = calloc((size_t)count, each);
  if (memory == NULL) {
    perror("tasks");
    exit(2);
  }
  return memory;
}

// What the order of creation says of each clause.
static void plan(void) {
  uses = zeroed(graph.unit_count, sizeof *uses);
  before_read = zeroed(graph.read_count, sizeof *before_read);
  before_write = zeroed(graph.write_count, sizeof *before_write);
  runs = zeroed(graph.task_count, sizeof *runs);
  created = zeroed(graph.task_count, sizeof *created);
  struct before* now = zeroed(graph.unit_count, sizeof *now);
  for (const struct task* task = graph.tasks; task < graph.tasks + graph.task_count; ++task) {
    for (int r = task->first_read; r < task->first_read + task->reads; ++r) {
      before_read[r] = now[graph.read[r]];
      now[graph.read[r]].reads += 1;
    }
    for (int w = task->first_write; w < task->first_write + task->writes; ++w) {
      before_write[w] = now[graph.write[w]];
      now[graph.write[w]] = (struct before){0, now[graph.write[w]].writes + 1};
    }
  }
  free(now);
}

static void touch_unit(int unit) { pretend_touch(graph.unit[unit], (graph.unit_bytes + kPage - 1) / kPage * kPage); }

static void interleave(int unit) {
  int nodes[64];
  for (int node = 0; node < pretend_nodes(); ++node) nodes[node] = node;
  pretend_deal(graph.unit[unit], (graph.unit_bytes + kPage - 1) / kPage * kPage, kPage, nodes, pretend_nodes());
}

// Also makes the threads of the team, whose time is not measured.
static void touch(const char* memory) {
  const bool by_loop = strcmp(memory, "parallel") == 0;
  void (*const one)(int) = strcmp(memory, "interleaved") == 0 ? interleave : touch_unit;
#pragma omp parallel num_threads(pretend_cores())
  for (int a = 0; a < graph.array_count; ++a) {
    const int last = a + 1 < graph.array_count ? graph.array[a + 1] : graph.unit_count;
    if (by_loop) {
#pragma omp for schedule(static)
      for (int u = graph.array[a]; u < last; ++u) touch_unit(u);
    } else {
#pragma omp masked
      for (int u = graph.array[a]; u < last; ++u) one(u);
    }
  }
}

static double later(double one, double other) { return one > other ? one : other; }

static void note_until(_Atomic double* until, double now) {
  double then = atomic_load(until);
  while (then < now && !atomic_compare_exchange_weak(until, &then, now)) {
  }
}

// All that the clauses of the task name is as the order of creation wants it. When the last of that was done.
static double check_order(const struct task* task) {
  double ready = created[task - graph.tasks];
  bool right = true;
  for (int r = task->first_read; r < task->first_read + task->reads; ++r) {
    const struct use* use = &uses[graph.read[r]];
    right &= use->writes == before_read[r].writes;
    ready = later(ready, use->written_until);
  }
  for (int w = task->first_write; w < task->first_write + task->writes; ++w) {
    const struct use* use = &uses[graph.write[w]];
    right &= use->writes == before_write[w].writes && use->reads == before_write[w].reads;
    ready = later(ready, later(use->written_until, use->read_until));
  }
  if (right) return ready;
  fprintf(stderr, "tasks: task %d ran out of order\n", (int)(task - graph.tasks));
  exit(1);
}

// In steps, so that tasks which run at the same time share what serves them.
enum { kStep = 16 * 1024 };
static void use_bytes(const struct work* work) {
  const struct pretend_piece* all = &graph.pieces[work->first_piece];
  struct pretend_piece part[8];
  size_t steps = 1;
  for (int p = 0; p < work->pieces; ++p) steps = all[p].bytes / kStep > steps ? all[p].bytes / kStep : steps;
  for (size_t s = 0; s < steps; ++s) {
    int count = 0;
    for (int p = 0; p < work->pieces; ++p) {
      const size_t begin = all[p].bytes * s / steps, end = all[p].bytes * (s + 1) / steps;
      if (end == begin) continue;
      part[count] = all[p];
      part[count].at += begin;
      part[count++].bytes = end - begin;
    }
    pretend_work(work->cycles / (double)steps, part, count);
  }
}

static void run(int number) {
  const struct task* task = &graph.tasks[number];
  pretend_begin(check_order(task));
  for (int w = task->first_work; w < task->first_work + task->works; ++w) use_bytes(&graph.works[w]);
  check_order(task);
  const double now = pretend_end();
  for (int r = task->first_read; r < task->first_read + task->reads; ++r) {
    struct use* use = &uses[graph.read[r]];
    note_until(&use->read_until, now);
    use->reads += 1;
  }
  for (int w = task->first_write; w < task->first_write + task->writes; ++w) {
    struct use* use = &uses[graph.write[w]];
    note_until(&use->written_until, now);
    use->writes += 1;
    use->reads = 0;
  }
  runs[number] += 1;
}

static void create(int number) {
  char** unit = graph.unit;
  const size_t bytes = graph.unit_bytes;
  const struct task task = graph.tasks[number];
  const int *read = &graph.read[task.first_read], *write = &graph.write[task.first_write];
  created[number] = pretend_seconds();
#pragma omp task firstprivate(number) depend(iterator(int w = 0 : task.writes), inout : unit[write[w]][0 : bytes]) \
    depend(iterator(int r = 0 : task.reads), in : unit[read[r]][0 : bytes])
  run(number);
}

static double bytes_used(void) {
  double bytes = 0;
  for (int p = 0; p < graph.piece_count; ++p) bytes += (double)graph.pieces[p].bytes;
  return bytes;
}

static void report(double seconds) {
  double counted = 0;
  for (int t = 0; t < graph.task_count; ++t) {
    if (runs[t] == 1) continue;
    fprintf(stderr, "tasks: task %d ran %d times\n", t, runs[t]);
    exit(1);
  }
  printf("{\"ms\":%.4f,\"tasks\":%d,\"memory\":[", seconds * 1e3, graph.task_count);
  for (int node = 0; node < pretend_nodes(); ++node) {
    for (int home = 0; home < pretend_nodes(); ++home) {
      counted += (double)pretend_bytes(node, home);
      printf("%s%llu", home > 0 ? "," : node > 0 ? "],[" : "[", (unsigned long long)pretend_bytes(node, home));
    }
  }
  printf("]]}\n");
  if (counted == bytes_used()) return;
  fprintf(stderr, "tasks: %.0f bytes were used of %.0f\n", counted, bytes_used());
  exit(1);
}

int main(int argc, char** argv) {
  static const char* const kMemory[] = {"initial", "parallel", "interleaved"};
  bool known = false;
  for (int i = 0; argc > 2 && i < 3; ++i) known |= strcmp(argv[1], kMemory[i]) == 0;
  if (!known || !graph_make(argv[2], argc - 3, argv + 3)) {
    fprintf(stderr,
            "usage: tasks initial|parallel|interleaved BENCHMARK NAME=VALUE..., all settings of `hearth sim "
            "--list` but ops_per_cycle\n");
    return 2;
  }
  pretend_open();
  touch(argv[1]);
  plan();
  pretend_forget();
  const double start = pretend_seconds();
#pragma omp parallel num_threads(pretend_cores())
#pragma omp masked
  for (int t = 0; t < graph.task_count; ++t) create(t);
  report(pretend_seconds() - start);
  return 0;
}
