/* One object file of a program whose objects come from two compilers. */
#include <omp.h>

int PART(void) {
  int sum = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp critical(shared_name)
    sum += omp_get_num_threads();
  }
  return sum;
}
