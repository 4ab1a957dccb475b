// Reduction: the merge phase of a merge sort, level by level; one malloc for the array and its double.
//
// 2^depth sorted runs stand in the array. At each level a task merges two neighbouring runs into the other
// half, so that there are half as many runs of double length; at the last, one task merges all. The items of
// depend clauses must be identical or disjoint, so a run is named by the parts of the shortest length that it
// consists of.
#include <stdint.h>
#include <stdlib.h>

#include "las.h"

// The paper: 256 MB and depth 10; on the manycore 700 kB and depth 6.
static struct las_argument arguments[kLasArguments] = {{"kib", 4096, 256 * 1024, 1, 1 << 22},
                                                       {"depth", 6, 10, 1, 16}};

static int depth;
static size_t words;
static size_t part;  // words of the shortest runs
static float* half[2];
static uint64_t fingerprint_before;

// Equal for two arrays, in all likelihood, only if they hold the same numbers as often.
static uint64_t fingerprint(const float* values) {
  uint64_t sum = 0;
  for (size_t i = 0; i < words; ++i) {
    const uint64_t value = (uint64_t)values[i] + 1;
    sum += (value * value * 0x9e3779b97f4a7c15u) ^ (value << 17);
  }
  return sum;
}

static void prepare(void) {
  depth = (int)arguments[1].value;
  part = (size_t)arguments[0].value * 1024 / sizeof(float) >> depth;
  if (part == 0) las_fail("there must be a word for each run");
  words = part << depth;
  half[0] = las_malloc(2 * words * sizeof(float));
  half[1] = half[0] + words;
  uint64_t state = 4711;
  for (size_t run = 0; run < words; run += part) {
    uint32_t value = 0;  // whole numbers below 2^24: exact
    for (size_t i = 0; i < part; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value += (uint32_t)(state >> 61);
      half[0][run + i] = (float)(value & 0xffffff);
      half[1][run + i] = -1;
    }
  }
  fingerprint_before = fingerprint(half[0]);
}

static void plan(void) {
  for (int level = 0; level < depth; ++level) {
    const int tasks = 1 << (depth - level - 1);
    for (int i = 0; i < tasks; ++i)
      las_plan((struct las_task){.kind = level, .step = level, .weight = 1l << level, .i = i, .k = level});
  }
}

static void create(struct las_task task) {
  float* from = half[task.k % 2];
  float* to = half[1 - task.k % 2];
  const size_t parts = (size_t)2 << task.k;
  const size_t first = (size_t)task.i * parts;
#pragma omp task firstprivate(task)                                              \
    depend(iterator(size_t p = 0 : parts), in : from[(first + p) * part : part]) \
    depend(iterator(size_t p = 0 : parts), out : to[(first + p) * part : part])
  las_run(task);
}

static void run(struct las_task task) {
  const size_t length = part << task.k;
  const float* left = half[task.k % 2] + 2 * (size_t)task.i * length;
  const float* const middle = left + length;
  const float* right = middle;
  const float* const end = right + length;
  float* to = half[1 - task.k % 2] + 2 * (size_t)task.i * length;
  while (left != middle && right != end) *to++ = *left <= *right ? *left++ : *right++;
  while (left != middle) *to++ = *left++;
  while (right != end) *to++ = *right++;
}

static void touches(const struct las_task* task) {
  const size_t length = 2 * part << task->k;
  las_touches(half[0] + (size_t)task->i * length, length * sizeof(float), 0);
  las_touches(half[1] + (size_t)task->i * length, length * sizeof(float), 0);
}

static void check(void) {
  const float* result = half[depth % 2];
  for (size_t i = 1; i < words; ++i) {
    if (!(result[i - 1] <= result[i])) las_fail("the result is not sorted");
  }
  if (fingerprint(result) != fingerprint_before) las_fail("the result has other numbers than the input");
}

static void release(void) { las_free(half[0]); }

int main(int argc, char** argv) {
  return las_main(
      argc, argv,
      &(struct las_benchmark){"reduction", arguments, prepare, plan, create, run, touches, check, release});
}
