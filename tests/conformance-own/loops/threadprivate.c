// threadprivate variables, with copyin.
#include "loops.h"

static int counter = 7;
static long table[3] = {1, 2, 3};
#pragma omp threadprivate(counter, table)

int main(void) {
#pragma omp parallel
  {
    check_long("initial value", counter, 7);
    check_long("initial array", table[2], 3);
    counter = 100 + omp_get_thread_num();
    table[0] = counter;
  }
#pragma omp parallel
  {
    check_long("value kept between regions", counter, 100 + omp_get_thread_num());
    check_long("array kept between regions", table[0], 100 + omp_get_thread_num());
  }
  counter = 5;
#pragma omp parallel copyin(counter)
  check_long("copyin", counter, 5);
  return failures != 0;
}
