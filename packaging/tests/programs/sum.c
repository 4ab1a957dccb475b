#include <stdio.h>

int main(void) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += i;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task shared(sum)
#pragma omp atomic
    sum += 1;
  }
  printf("%ld\n", sum);
  return 0;
}
