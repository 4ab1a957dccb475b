// Counting how often each iteration ran.
#pragma once

#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { kMost = 70000 };
static int hits[kMost];
static int failures;

// An iteration that the loop does not have counts as a failure, wherever it lies.
static inline void hit(unsigned long long i) {
  __atomic_fetch_add(i < kMost ? &hits[i] : &failures, 1, __ATOMIC_RELAXED);
}
#define HIT(i) hit((unsigned long long)(i))

static inline void fail(const char* what, long got, long wanted) {
  printf("%s: %ld instead of %ld (%d threads)\n", what, got, wanted, omp_get_max_threads());
  ++failures;
}

// Iterations 0 to n-1 have run `times` times each, no other has.
static inline void check_hits(const char* what, int n, int times) {
  for (int i = 0; i < kMost; ++i) {
    if (hits[i] == (i < n ? times : 0)) continue;
    printf("iteration %d of %d: ", i, n);
    fail(what, hits[i], i < n ? times : 0);
    break;
  }
  memset(hits, 0, sizeof hits);
}

static inline void check_long(const char* what, long got, long wanted) {
  if (got != wanted) fail(what, got, wanted);
}
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
