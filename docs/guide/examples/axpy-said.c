#include <stdio.h>
#include <stdlib.h>

enum { blocks = 64, n = 1 << 13 };

int main(void) {
  double *x = malloc(blocks * n * sizeof *x), *y = malloc(blocks * n * sizeof *y);
#pragma omp parallel for schedule(static)  // each thread places its part of the data on its own node
  for (int i = 0; i < blocks * n; i++) x[i] = y[i] = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; round++) {
    for (int b = 0; b < blocks; b++) {
#pragma omp task depend(in : x[b * n : n]) depend(inout : y[b * n : n])  // what the task reads and writes
      for (int i = b * n; i < (b + 1) * n; i++) y[i] += 2 * x[i] + 1;
    }
#pragma omp taskwait
  }
  printf("%g\n", y[n]);
}
