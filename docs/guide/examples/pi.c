#include <stdio.h>

int main(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100000000; i++) {
    double x = (i + 0.5) / 1e8;
    sum += 4.0 / (1 + x * x);
  }
  printf("pi = %.10f\n", sum / 1e8);
}
