#include <stdio.h>
#include <stdlib.h>

enum { blocks = 64, n = 1 << 13 };

int main(void) {
  double *x = calloc(blocks * n, sizeof *x), *y = calloc(blocks * n, sizeof *y);
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; round++) {
    for (int b = 0; b < blocks; b++) {
#pragma omp task
      for (int i = b * n; i < (b + 1) * n; i++) y[i] += 2 * x[i] + 1;
    }
#pragma omp taskwait
  }
  printf("%g\n", y[n]);
}
