// Many regions, barriers and tasks of more threads than CPUs: with one CPU, or a quota of one, they must come
// to an end.
#include "check.h"

int main(void) {
  long sum = 0;
  for (int i = 0; i < 30; ++i) {
#pragma omp parallel num_threads(8) reduction(+ : sum)
    {
      for (int k = 0; k < 5; ++k) {
#pragma omp barrier
      }
      sum += 1;
    }
  }
  CHECK(sum == 240);
  return 0;
}
