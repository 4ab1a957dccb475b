// The task graphs of bench/las: same tasks in the same order, same clauses, same allocations. src/sim/workload has them
// for the simulator, too, with the same names of settings; bench/pretended/run compares the number of tasks and of
// bytes. A task uses its blocks once, since caches are not pretended, and computes as many cycles as there.
#include "graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct graph graph;

static int next(int* count) {
  if (*count < kMost) return (*count)++;
  fprintf(stderr, "graph: more than %d of a kind; choose a smaller size\n", kMost);
  exit(2);
}

int graph_allocate(size_t unit_bytes, int units) {
  const int first = graph.unit_count;
  char* at = aligned_alloc(kBlock, (unit_bytes * (size_t)units + kBlock - 1) / kBlock * kBlock);
  if (at == NULL) {
    perror("graph");
    exit(2);
  }
  graph.unit_bytes = unit_bytes;
  for (int i = 0; i < units; ++i) graph.unit[next(&graph.unit_count)] = at + (size_t)i * unit_bytes;
  return first;
}

void graph_array(int unit) { graph.array[graph.array_count++] = unit; }

void graph_task(void) {
  graph.tasks[next(&graph.task_count)] = (struct task){graph.read_count, 0, graph.write_count, 0, graph.work_count, 0};
}
static struct task* last_task(void) { return &graph.tasks[graph.task_count - 1]; }

void graph_reads(int unit) {
  graph.read[next(&graph.read_count)] = unit;
  last_task()->reads += 1;
}

void graph_writes(int unit) {
  graph.write[next(&graph.write_count)] = unit;
  last_task()->writes += 1;
}

void graph_work(double cycles) {
  graph.works[next(&graph.work_count)] = (struct work){cycles, graph.piece_count, 0};
  last_task()->works += 1;
}

void graph_piece(int unit, size_t bytes, bool written, bool strided) {
  graph.pieces[next(&graph.piece_count)] = (struct pretend_piece){graph.unit[unit], bytes, written, strided};
  graph.works[graph.work_count - 1].pieces += 1;
}

void graph_use(int unit, bool written) {
  if (written)
    graph_writes(unit);
  else
    graph_reads(unit);
  graph_piece(unit, graph.unit_bytes, written, false);
}

// ---- the benchmarks

enum { kSettings = 3, kWord = 4, kPoint = 12, kLine = 64 };
static const double kMergedPerCycle = 0.06, kScaledPerCycle = 2, kCrossPerCycle = 2, kMatrixPerCycle = 6,
                    kJacobiPerCycle = 3;

static void map(const long* set) {
  const size_t bytes = (size_t)set[1] * 1024;
  for (int i = 0; i < set[0]; ++i) {
    const int vector = graph_allocate(bytes, 1);
    graph_task();
    graph_work((double)(bytes / kWord) / kScaledPerCycle);
    graph_use(vector, true);
  }
}

static void reduction(const long* set) {
  const int parts = 1 << set[1];
  const size_t part = (size_t)set[0] * 1024 / (size_t)parts;
  const int array = graph_allocate(part, 2 * parts);
  graph_array(array);
  graph_array(array + parts);
  for (int level = 0; level < set[1]; ++level) {
    const int each = 2 << level, from = array + level % 2 * parts, to = array + (1 - level % 2) * parts;
    for (int first = 0; first < parts; first += each) {
      graph_task();
      graph_work((double)(part * (size_t)each / kWord) / kMergedPerCycle);
      for (int p = first; p < first + each; ++p) {
        graph_reads(from + p);
        graph_writes(to + p);
      }
      graph_piece(from + first, part * (size_t)each, false, false);
      graph_piece(to + first, part * (size_t)each, true, false);
    }
  }
}

static void vecmul(const long* set) {
  const size_t bytes = (size_t)set[1] * 1024 / kPoint * kPoint;
  for (int i = 0; i < set[0]; ++i) {
    const int a = graph_allocate(bytes, 1), b = graph_allocate(bytes, 1), c = graph_allocate(bytes, 1);
    graph_task();
    graph_work(9 * (double)(bytes / kPoint) / kCrossPerCycle);
    graph_use(a, false);
    graph_use(b, false);
    graph_use(c, true);
  }
}

static double cube(long side) { return (double)side * (double)side * (double)side; }

static void matmul(const long* set) {
  const int blocks = (int)(set[0] / set[1]), all = blocks * blocks;
  const size_t bytes = (size_t)(set[1] * set[1]) * kWord;
  for (int at = 0; at < 3 * all; ++at) graph_allocate(bytes, 1);
  for (int matrix = 0; matrix < 3; ++matrix) graph_array(matrix * all);
  for (int at = 0; at < all; ++at) {
    const int sum = 2 * all + at;
    graph_task();
    graph_writes(sum);
    for (int k = 0; k < blocks; ++k) {
      graph_work(2 * cube(set[1]) / kMatrixPerCycle);
      graph_piece(sum, bytes, true, false);
      graph_use(at / blocks * blocks + k, false);
      graph_use(all + k * blocks + at % blocks, false);
    }
  }
}

static void jacobi(const long* set) {
  const int blocks = (int)(set[0] / set[1]), all = blocks * blocks;
  const size_t row = (size_t)set[1] * kWord, bytes = row * (size_t)set[1], column = (size_t)set[1] * kLine;
  graph_array(graph_allocate(bytes, all));
  graph_array(graph_allocate(bytes, all));
  for (int number = 0; number < set[2] * all; ++number) {
    const int from = number / all % 2 * all, to = all - from, at = number % all, i = at / blocks, j = at % blocks;
    const bool there[] = {i > 0, i + 1 < blocks, j > 0, j + 1 < blocks};
    const int beside[] = {at - blocks, at + blocks, at - 1, at + 1};
    graph_task();
    graph_work(4 * (double)(bytes / kWord) / kJacobiPerCycle);
    graph_use(to + at, true);
    graph_use(from + at, false);
    // Neighbours are named whole. On the boundary a block stands in for the one that is not there.
    for (int n = 0; n < 4; ++n) {
      graph_reads(from + (there[n] ? beside[n] : at));
      if (there[n]) graph_piece(from + beside[n], n < 2 ? row : column, false, n >= 2);
    }
  }
}

// One operation of SparseLU: it changes a block and reads up to two.
static void change(int block, int one, int other, double operations) {
  graph_task();
  graph_work(operations / kMatrixPerCycle);
  if (one >= 0) graph_use(one, false);
  if (other >= 0) graph_use(other, false);
  graph_use(block, true);
}

static void sparselu(const long* set) {
  const int blocks = (int)(set[0] / set[1]);
  const size_t bytes = (size_t)(set[1] * set[1]) * kWord;
  const double operations = cube(set[1]);
  int* matrix = malloc((size_t)(blocks * blocks) * sizeof *matrix);  // units; -1: a block of zeros
  if (matrix == NULL) exit(2);
#define AT(i, j) matrix[(i) * blocks + (j)]
  for (int at = 0; at < blocks * blocks; ++at) {
    const int i = at / blocks, j = at % blocks;
    matrix[at] = abs(i - j) <= 1 || (i * 7 + j * 5) % 4 == 0 ? graph_allocate(bytes, 1) : -1;
  }
  for (int k = 0; k < blocks; ++k)
    for (int i = k + 1; i < blocks; ++i)
      for (int j = k + 1; j < blocks && AT(i, k) >= 0; ++j)
        if (AT(k, j) >= 0 && AT(i, j) < 0) AT(i, j) = graph_allocate(bytes, 1);
  for (int k = 0; k < blocks; ++k) {
    change(AT(k, k), -1, -1, 3 * operations * 2 / 3);
    for (int j = k + 1; j < blocks; ++j)
      if (AT(k, j) >= 0) change(AT(k, j), AT(k, k), -1, 1.5 * operations);
    for (int i = k + 1; i < blocks; ++i)
      if (AT(i, k) >= 0) change(AT(i, k), AT(k, k), -1, 3 * operations);
    for (int i = k + 1; i < blocks; ++i)
      for (int j = k + 1; j < blocks && AT(i, k) >= 0; ++j)
        if (AT(k, j) >= 0) change(AT(i, j), AT(k, j), AT(i, k), 2 * operations);
  }
#undef AT
  free(matrix);
}

bool graph_make(const char* benchmark, int settings, char** setting) {
  static const struct {
    const char *name, *settings[kSettings];
    void (*make)(const long* values);
  } kBenchmarks[] = {{"map", {"vectors", "kib"}, map},
                     {"reduction", {"kib", "depth"}, reduction},
                     {"vecmul", {"vectors", "kib"}, vecmul},
                     {"matmul", {"size", "block"}, matmul},
                     {"jacobi", {"size", "block", "sweeps"}, jacobi},
                     {"sparselu", {"size", "block"}, sparselu}};
  for (size_t b = 0; b < sizeof kBenchmarks / sizeof *kBenchmarks; ++b) {
    if (strcmp(benchmark, kBenchmarks[b].name) != 0) continue;
    long values[kSettings] = {0};
    int wanted = 0;
    for (; wanted < kSettings && kBenchmarks[b].settings[wanted] != NULL; ++wanted) {
      const char* name = kBenchmarks[b].settings[wanted];
      for (int i = 0; i < settings; ++i)
        if (strncmp(setting[i], name, strlen(name)) == 0 && setting[i][strlen(name)] == '=')
          values[wanted] = strtol(setting[i] + strlen(name) + 1, NULL, 10);
      if (values[wanted] <= 0) return false;
    }
    if (settings != wanted) return false;
    kBenchmarks[b].make(values);
    if (graph.array_count == 0) graph_array(0);
    return true;
  }
  return false;
}
