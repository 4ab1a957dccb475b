// Counts a tree nobody can foresee: whether a node has children follows from a hash of its path, so subtrees
// of one node differ in size by orders of magnitude and the load must be balanced while running.
//
// The root has many children; any other node has eight, or none with a probability that keeps the tree
// finite. Each task writes its subtree's count into a slot of its parent's array.
#include <stddef.h>
#include <stdint.h>

#include "../common/bench.h"
#include "driver.h"

enum { kRootChildren = 400, kChildren = 8, kHashRounds = 12 };

static const double kBranching = 0.122;  // times kChildren: 0.976 children on average
static int task_depth;
static uint64_t seed;
static long answer;
static long result;

// Stands for the work at a node; the rounds make it some 50 ns.
static uint64_t hash_child(uint64_t node, int child) {
  uint64_t x = node + 0x9e3779b97f4a7c15u * (uint64_t)(child + 1);
  for (int round = 0; round < kHashRounds; ++round) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return x;
}

static int children_of(uint64_t node) { return (double)(node >> 11) * 0x1p-53 < kBranching ? kChildren : 0; }

static long count_serial(uint64_t node) {
  const int children = children_of(node);
  long nodes = 1;
  for (int c = 0; c < children; ++c) nodes += count_serial(hash_child(node, c));
  return nodes;
}

static long count(uint64_t node, int depth) {
  if (depth >= task_depth) return count_serial(node);
  const int children = children_of(node);
  if (children == 0) return 1;
  long counts[kChildren];
  for (int c = 0; c < children; ++c) {
#pragma omp task firstprivate(node, c, depth) shared(counts)
    counts[c] = count(hash_child(node, c), depth + 1);
  }
#pragma omp taskwait
  long nodes = 1;
  for (int c = 0; c < children; ++c) nodes += counts[c];
  return nodes;
}

static long count_root(void) {
  static long counts[kRootChildren];
  for (int c = 0; c < kRootChildren; ++c) {
#pragma omp task firstprivate(c) shared(counts)
    counts[c] = count(hash_child(seed, c), 1);
  }
#pragma omp taskwait
  long nodes = 1;
  for (int c = 0; c < kRootChildren; ++c) nodes += counts[c];
  return nodes;
}

static long count_root_serial(void) {
  long nodes = 1;
  for (int c = 0; c < kRootChildren; ++c) nodes += count_serial(hash_child(seed, c));
  return nodes;
}

static void prepare(bool cutoff) {
  task_depth = cutoff ? 12 : 1 << 30;
  seed = cutoff ? 14 : 24;
  answer = count_root_serial();
}

static void run(void) {
#pragma omp parallel
#pragma omp single
  result = count_root();
}

static void check(void) {
  if (result != answer) bench_fail("uts: the tree has %ld nodes, not %ld", answer, result);
  result = -1;
}

int main(int argc, char** argv) {
  static const struct task_benchmark benchmark = {"uts",
                                                  "400 unbalanced trees, tasks to depth 12",
                                                  "400 unbalanced trees, a task per node",
                                                  prepare,
                                                  NULL,
                                                  run,
                                                  check};
  return task_benchmark_main(argc, argv, &benchmark);
}
