#include "las.h"

#include <dlfcn.h>
#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/hearth.h"
#include "optimal.h"
#include "places.h"
#include "region.h"

enum { kMostThreads = 1024, kCacheLinePair = 128, kLine = 64 };

static const struct las_benchmark* benchmark;
static const char* distribution = "standard";
static const char* by = "tasks";
static bool tell_cost;
static int repeats = 5;

static void* (*distributed_malloc)(size_t, omp_malloc_distribution_t);
static void (*distributed_free)(void*);

static struct {
  struct las_task* tasks;  // in the order of creation
  int count;
  int room;
} plan;
static int* ran_by;  // thread of each task of the plan

static struct {
  long weight;
  long tasks;
  int node;
  char apart[kCacheLinePair - 2 * sizeof(long) - sizeof(int)];
} threads[kMostThreads];
static int thread_count;

// What places_of_range() finds for the task at hand, by node: lines of its ranges.
static double lines_at[kPlacesMostNodes];

void las_fail(const char* what) {
  fprintf(stderr, "%s: %s\n", benchmark->name, what);
  exit(1);
}

static void usage(void) {
  fprintf(stderr,
          "usage: %s [distribution=standard|fine|coarse|blocked|interleaved] [by=tasks|optimal] [cost=yes]\n"
          "  [repeats=5] [inputs=small|paper]",
          benchmark->name);
  for (int i = 0; i < kLasArguments && benchmark->arguments[i].name != NULL; ++i)
    fprintf(stderr, " [%s=%ld]", benchmark->arguments[i].name, benchmark->arguments[i].value);
  fputc('\n', stderr);
  exit(2);
}

static long number(const char* text, long least, long most) {
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > most) usage();
  return value;
}

static bool is(const char* text, const char* word) { return strcmp(text, word) == 0; }

static void read_argument(const char* name, const char* value) {
  if (is(name, "distribution")) {
    distribution = value;
  } else if (is(name, "by")) {
    if (!is(value, "tasks") && !is(value, "optimal")) usage();
    by = value;
  } else if (is(name, "cost")) {
    if (!is(value, "yes")) usage();
    tell_cost = true;
  } else if (is(name, "repeats")) {
    repeats = (int)number(value, 1, 1000);
  } else if (is(name, "inputs")) {
    if (!is(value, "small") && !is(value, "paper")) usage();
    for (int i = 0; i < kLasArguments && is(value, "paper"); ++i)
      benchmark->arguments[i].value = benchmark->arguments[i].paper;
  } else {
    for (int i = 0; i < kLasArguments && benchmark->arguments[i].name != NULL; ++i) {
      struct las_argument* argument = &benchmark->arguments[i];
      if (!is(name, argument->name)) continue;
      argument->value = number(value, argument->least, argument->most);
      return;
    }
    usage();
  }
}

static omp_malloc_distribution_t chosen_distribution(void) {
  if (is(distribution, "fine")) return OMP_MALLOC_FINE;
  if (is(distribution, "coarse")) return OMP_MALLOC_COARSE;
  if (is(distribution, "blocked")) return OMP_MALLOC_BLOCKED;
  return OMP_MALLOC_STANDARD;
}

static void choose_memory(void) {
  if (is(distribution, "interleaved")) {
    if (!places_interleave()) las_fail("the kernel refuses to interleave");
    return;
  }
  if (chosen_distribution() == OMP_MALLOC_STANDARD) {
    if (!is(distribution, "standard")) usage();
    return;
  }
  *(void**)&distributed_malloc = dlsym(RTLD_DEFAULT, "omp_malloc_specific");
  *(void**)&distributed_free = dlsym(RTLD_DEFAULT, "omp_malloc_free");
  if (distributed_malloc == NULL || distributed_free == NULL)
    las_fail("this OpenMP runtime has no omp_malloc_specific(); use distribution=standard or interleaved");
}

static void (*task_footprint)(const void*, size_t, int);

void las_footprint(const void* begin, size_t bytes, int access) {
  if (task_footprint != NULL) task_footprint(begin, bytes, access);
}

void* las_malloc(size_t bytes) {
  void* block = distributed_malloc != NULL ? distributed_malloc(bytes, chosen_distribution()) : NULL;
  // Aligned, so that blocks of whole pages share none.
  if (distributed_malloc == NULL && posix_memalign(&block, bytes >= 4096 ? 4096 : kLine, bytes) != 0)
    block = NULL;
  if (block == NULL) las_fail("no memory");
  return block;
}

void las_free(void* block) {
  if (distributed_free != NULL)
    distributed_free(block);
  else
    free(block);
}

void las_plan(struct las_task task) {
  if (plan.count == plan.room) {
    plan.room = plan.room == 0 ? 1024 : 2 * plan.room;
    plan.tasks = realloc(plan.tasks, (size_t)plan.room * sizeof *plan.tasks);
    if (plan.tasks == NULL) las_fail("no memory for the plan");
  }
  if (plan.count > 0 && task.step < plan.tasks[plan.count - 1].step) las_fail("the plan goes back a step");
  task.number = plan.count;
  plan.tasks[plan.count++] = task;
}

void las_run(struct las_task task) {
  const int me = omp_get_thread_num();
  threads[me].weight += task.weight;
  threads[me].tasks += 1;
  ran_by[task.number] = me;
  benchmark->run(task);
}

void las_touches(const void* begin, size_t bytes, size_t lines) {
  const uintptr_t first = (uintptr_t)begin / kLine;
  const uintptr_t last = ((uintptr_t)begin + bytes - 1) / kLine;
  places_of_range(begin, bytes, lines != 0 ? (double)lines : (double)(last - first + 1), lines_at);
}

// cost[task * nodes + node]: the lines that the task would find on other nodes, weighted by their distance
// relative to local memory, if none of them is in a cache: the unit of the counted misses.
static double* costs(void) {
  const int nodes = places_nodes();
  double* cost = calloc((size_t)plan.count * (size_t)nodes, sizeof *cost);
  if (cost == NULL) las_fail("no memory for the costs");
  for (int t = 0; t < plan.count; ++t) {
    memset(lines_at, 0, sizeof lines_at);
    benchmark->touches(&plan.tasks[t]);
    for (int node = 0; node < nodes; ++node) {
      for (int home = 0; home < nodes; ++home) {
        if (home != node)
          cost[(size_t)t * (size_t)nodes + (size_t)node] += lines_at[home] * places_distance(node, home) / 10;
      }
    }
  }
  return cost;
}

// The node of every task, kind by kind.
static void find_optimal(const double* cost, int* node_of) {
  const size_t nodes = (size_t)places_nodes();
  double* part = malloc((size_t)plan.count * nodes * sizeof *part);
  int* which = malloc((size_t)plan.count * sizeof *which);
  int* where = malloc((size_t)plan.count * sizeof *where);
  if (part == NULL || which == NULL || where == NULL) las_fail("no memory for the best assignment");
  int kinds = 0;
  for (int t = 0; t < plan.count; ++t) {
    if (plan.tasks[t].kind >= kinds) kinds = plan.tasks[t].kind + 1;
  }
  for (int kind = 0; kind < kinds; ++kind) {
    int count = 0;
    for (int t = 0; t < plan.count; ++t) {
      if (plan.tasks[t].kind != kind) continue;
      memcpy(part + (size_t)count * nodes, cost + (size_t)t * nodes, nodes * sizeof *part);
      which[count++] = t;
    }
    int most[kPlacesMostNodes] = {0};
    for (int i = 0; i < thread_count; ++i) most[threads[i].node] += 1;
    for (size_t node = 0; node < nodes; ++node)
      most[node] = optimal_equal_part(count, most[node], thread_count);
    if (!optimal_assignment(count, (int)nodes, part, most, where)) las_fail("there is no best assignment");
    for (int i = 0; i < count; ++i) node_of[which[i]] = where[i];
  }
  free(part);
  free(which);
  free(where);
}

static double sum_of(const double* cost, const int* node_of) {
  double sum = 0;
  for (int t = 0; t < plan.count; ++t) sum += cost[(size_t)t * (size_t)places_nodes() + (size_t)node_of[t]];
  return sum;
}

// QEMU computes with the host's floating-point unit only once a result of the thread was inexact, which those
// of some benchmarks never are: without this the initial thread is the fastest.
static void round_once(void) {
  volatile float three = 3;
  volatile float third = 1 / three;
  (void)third;
}

static void find_threads(void) {
#pragma omp parallel
  {
    round_once();
    threads[omp_get_thread_num()].node = place_of_thread();
#pragma omp masked
    thread_count = omp_get_num_threads();
  }
}

static void create_tasks(void) {
#pragma omp parallel
#pragma omp masked
  for (int t = 0; t < plan.count; ++t) benchmark->create(plan.tasks[t]);
}

// Without tasks: each thread has a list of its own, copied into its own memory before the region is marked.
static struct las_task* list_of[kMostThreads];
static int length_of[kMostThreads];

static void hand_out(const int* node_of) {
  int turn[kPlacesMostNodes] = {0};
  int* thread_of = malloc((size_t)plan.count * sizeof *thread_of);
  if (thread_of == NULL) las_fail("no memory for the lists");
  for (int t = 0; t < plan.count; ++t) {
    int* next = &turn[node_of[t]];
    while (threads[*next % thread_count].node != node_of[t]) ++*next;
    thread_of[t] = (*next)++ % thread_count;
  }
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    struct las_task* list = malloc((size_t)plan.count * sizeof *list);
    if (list == NULL) las_fail("no memory for a list");
    int length = 0;
    for (int t = 0; t < plan.count; ++t) {
      if (thread_of[t] == me) list[length++] = plan.tasks[t];
    }
    list_of[me] = list;
    length_of[me] = length;
  }
  free(thread_of);
}

static void run_lists(void) {
  const int last = plan.tasks[plan.count - 1].step;
#pragma omp parallel firstprivate(last)
  {
    const int me = omp_get_thread_num();
    const struct las_task* task = list_of[me];
    const struct las_task* end = task + length_of[me];
    for (int step = plan.tasks[0].step; step <= last; ++step) {
      for (; task != end && task->step == step; ++task) las_run(*task);
#pragma omp barrier
    }
  }
}

static void free_lists(void) {
  for (int i = 0; i < thread_count; ++i) free(list_of[i]);
}

/// Heaviest thread's weight by the mean.
static double balance(void) {
  long heaviest = 0, all = 0, tasks = 0;
  for (int i = 0; i < thread_count; ++i) {
    all += threads[i].weight;
    tasks += threads[i].tasks;
    if (threads[i].weight > heaviest) heaviest = threads[i].weight;
  }
  if (tasks != plan.count) las_fail("a task did not run, or ran twice");
  return (double)heaviest * thread_count / (double)all;
}

static void repeat_once(int repeat) {
  benchmark->prepare();
  plan.count = 0;
  benchmark->plan();
  ran_by = malloc((size_t)plan.count * sizeof *ran_by);
  int* best = malloc((size_t)plan.count * sizeof *best);
  if (ran_by == NULL || best == NULL) las_fail("no memory for the plan");
  const bool lists = is(by, "optimal");
  double* cost = NULL;
  if (lists || tell_cost) {
    cost = costs();
    find_optimal(cost, best);
  }
  if (lists) hand_out(best);
  for (int i = 0; i < thread_count; ++i) threads[i].weight = threads[i].tasks = 0;

  const double start = omp_get_wtime();
  NUMA_REGION_BEGIN();
  if (lists)
    run_lists();
  else
    create_tasks();
  NUMA_REGION_END();
  const double seconds = omp_get_wtime() - start;

  benchmark->check();
  printf("repeat %d balance %.3f seconds %.6f", repeat, balance(), seconds);
  if (cost != NULL) {
    const double least = sum_of(cost, best);
    for (int t = 0; t < plan.count; ++t) best[t] = threads[ran_by[t]].node;
    printf(" cost %.0f optimal %.0f", sum_of(cost, best), least);
  }
  putchar('\n');
  fflush(stdout);
  if (lists) free_lists();
  free(cost);
  free(best);
  free(ran_by);
  benchmark->release();
}

int las_main(int argc, char** argv, const struct las_benchmark* chosen) {
  benchmark = chosen;
  for (int i = 1; i < argc; ++i) {
    char* value = strchr(argv[i], '=');
    if (value == NULL) usage();
    *value++ = '\0';
    read_argument(argv[i], value);
  }
  if (omp_get_max_threads() > kMostThreads) las_fail("too many threads");
  choose_memory();
  *(void**)&task_footprint = dlsym(RTLD_DEFAULT, "hearth_task_footprint");
  Dl_info library = {0};
  void* entry = dlsym(RTLD_DEFAULT, "omp_get_thread_num");
  if (entry == NULL || dladdr(entry, &library) == 0) las_fail("no OpenMP library answers");
  printf("runtime %s\n", library.dli_fname);
  find_threads();
  for (int repeat = 0; repeat < repeats; ++repeat) repeat_once(repeat);
  free(plan.tasks);
  return 0;
}
