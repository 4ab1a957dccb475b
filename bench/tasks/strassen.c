// Strassen's product of square matrices: seven tasks per level, each with its own temporaries.
//
// The entries are small whole numbers, so every sum is exact and the result must equal the schoolbook product
// bit by bit, whatever the order. Tasks write only to the product they were given; temporaries are freed by
// their creator after the taskwait.
#include <stdlib.h>

#include "../common/bench.h"
#include "driver.h"

static int n;
static int serial_size;
static double* a;
static double* b;
static double* product;
static double* answer;

static double* allocate(size_t count) {
  double* memory = malloc(count * sizeof(double));
  if (!memory) bench_fail("strassen: no memory");
  return memory;
}

// In all functions: size x size matrices with rows `stride` apart, temporaries without gaps.

static void multiply_serial(const double* x, int xs, const double* y, int ys, double* z, int zs, int size) {
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) z[i * zs + j] = 0;
    for (int k = 0; k < size; ++k) {
      const double factor = x[i * xs + k];
      for (int j = 0; j < size; ++j) z[i * zs + j] += factor * y[k * ys + j];
    }
  }
}

static void combine(const double* x, const double* y, int stride, double sign, double* z, int size) {
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) z[i * size + j] = x[i * stride + j] + sign * y[i * stride + j];
  }
}

static void multiply(const double* x, int xs, const double* y, int ys, double* z, int zs, int size) {
  if (size <= serial_size) {
    multiply_serial(x, xs, y, ys, z, zs, size);
    return;
  }
  const int h = size / 2;
  const size_t area = (size_t)h * h;
  const double *x11 = x, *x12 = x + h, *x21 = x + h * xs, *x22 = x + h * xs + h;
  const double *y11 = y, *y12 = y + h, *y21 = y + h * ys, *y22 = y + h * ys + h;
  double* memory = allocate(17 * area);
  double* m[7];
  double* s[10];
  for (int i = 0; i < 7; ++i) m[i] = memory + (size_t)i * area;
  for (int i = 0; i < 10; ++i) s[i] = memory + (size_t)(7 + i) * area;
  combine(x11, x22, xs, 1, s[0], h);
  combine(y11, y22, ys, 1, s[1], h);
  combine(x21, x22, xs, 1, s[2], h);
  combine(y12, y22, ys, -1, s[3], h);
  combine(y21, y11, ys, -1, s[4], h);
  combine(x11, x12, xs, 1, s[5], h);
  combine(x21, x11, xs, -1, s[6], h);
  combine(y11, y12, ys, 1, s[7], h);
  combine(x12, x22, xs, -1, s[8], h);
  combine(y21, y22, ys, 1, s[9], h);
#pragma omp task
  multiply(s[0], h, s[1], h, m[0], h, h);
#pragma omp task
  multiply(s[2], h, y11, ys, m[1], h, h);
#pragma omp task
  multiply(x11, xs, s[3], h, m[2], h, h);
#pragma omp task
  multiply(x22, xs, s[4], h, m[3], h, h);
#pragma omp task
  multiply(s[5], h, y22, ys, m[4], h, h);
#pragma omp task
  multiply(s[6], h, s[7], h, m[5], h, h);
#pragma omp task
  multiply(s[8], h, s[9], h, m[6], h, h);
#pragma omp taskwait
  for (int i = 0; i < h; ++i) {
    for (int j = 0; j < h; ++j) {
      const int at = i * h + j;
      z[i * zs + j] = m[0][at] + m[3][at] - m[4][at] + m[6][at];
      z[i * zs + j + h] = m[2][at] + m[4][at];
      z[(i + h) * zs + j] = m[1][at] + m[3][at];
      z[(i + h) * zs + j + h] = m[0][at] - m[1][at] + m[2][at] + m[5][at];
    }
  }
  free(memory);
}

static void prepare(bool cutoff) {
  n = cutoff ? 512 : 256;
  serial_size = cutoff ? 64 : 8;
  const size_t area = (size_t)n * n;
  a = allocate(area);
  b = allocate(area);
  product = allocate(area);
  answer = allocate(area);
  unsigned state = 12345;
  for (size_t i = 0; i < area; ++i) {
    state = state * 1664525u + 1013904223u;
    a[i] = (double)(state >> 29) - 3;
    b[i] = (double)((state >> 13) & 7) - 3;
  }
  multiply_serial(a, n, b, n, answer, n, n);
}

static void reset(void) {
  for (size_t i = 0; i < (size_t)n * n; ++i) product[i] = -1e300;
}

static void run(void) {
#pragma omp parallel
#pragma omp single
  multiply(a, n, b, n, product, n, n);
}

static void check(void) {
  for (size_t i = 0; i < (size_t)n * n; ++i) {
    if (product[i] != answer[i]) bench_fail("strassen: entry %zu is %g, not %g", i, product[i], answer[i]);
  }
}

int main(int argc, char** argv) {
  static const struct task_benchmark benchmark = {
      "strassen", "512 x 512, serial at 64", "256 x 256, serial at 8", prepare, reset, run, check};
  return task_benchmark_main(argc, argv, &benchmark);
}
