// Three vectors of one team, and STREAM's four kernels on them, each a parallel region of `threads` threads.
//
// Element i of every vector is always i + 1 times a factor that all elements share, so one figure per vector says what
// it has to hold. Regions touch a vector in equal static parts, so each part has one home.
#pragma once

#include <stddef.h>

#include "forest.h"

struct vectors {
  word* a;
  word* b;
  word* c;
  size_t length;
};
/// What each vector has to hold, divided by i + 1.
struct factors {
  word a;
  word b;
  word c;
};

static const struct factors kFirst = {1, 2, 3};
enum { kScalar = 3 };

static inline struct vectors vectors_new(int threads) {
  const size_t bytes = forest.bytes * (size_t)threads;
  return (struct vectors){forest_pages(bytes), forest_pages(bytes), forest_pages(bytes), bytes / sizeof(word)};
}

static inline void vectors_release(struct vectors v) {
  forest_release(v.a, v.length * sizeof(word));
  forest_release(v.b, v.length * sizeof(word));
  forest_release(v.c, v.length * sizeof(word));
}

/// The first touch.
static inline void vectors_fill(struct vectors v, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < v.length; ++i) {
    v.a[i] = kFirst.a * (i + 1);
    v.b[i] = kFirst.b * (i + 1);
    v.c[i] = kFirst.c * (i + 1);
  }
}

static inline void vectors_check(struct vectors v, struct factors f) {
  for (size_t i = 0; i < v.length; ++i) {
    if (v.a[i] != f.a * (i + 1) || v.b[i] != f.b * (i + 1) || v.c[i] != f.c * (i + 1))
      forest_fail("element %zu is %llu, %llu, %llu", i, (unsigned long long)v.a[i], (unsigned long long)v.b[i],
                  (unsigned long long)v.c[i]);
  }
}

static inline void copy(struct vectors v, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < v.length; ++i) v.c[i] = v.a[i];
}

static inline void scale(struct vectors v, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < v.length; ++i) v.b[i] = kScalar * v.c[i];
}

static inline void add(struct vectors v, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < v.length; ++i) v.c[i] = v.a[i] + v.b[i];
}

static inline void triad(struct vectors v, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < v.length; ++i) v.a[i] = v.b[i] + kScalar * v.c[i];
}

struct kernel {
  const char* name;
  int vectors;  // that it touches
  void (*run)(struct vectors, int);
};
static const struct kernel kKernels[] = {{"copy", 2, copy}, {"scale", 2, scale}, {"add", 3, add}, {"triad", 3, triad}};
enum { kKernelCount = 4 };

static inline struct factors after_passes(int passes) {
  struct factors f = kFirst;
  for (int pass = 0; pass < passes; ++pass) {
    f.c = f.a;
    f.b = kScalar * f.c;
    f.c = f.a + f.b;
    f.a = f.b + kScalar * f.c;
  }
  return f;
}
