// The smallest program with a parallel region: bench/run times its whole life, from exec to exit, in
// processes of their own. Built without -fopenmp it is the floor: what a process costs that uses no runtime
// at all.
#include <stdlib.h>

int main(void) {
  int present = 0;
#pragma omp parallel
  {
#pragma omp atomic
    present += 1;
  }
#ifdef _OPENMP
  const char* wanted = getenv("OMP_NUM_THREADS");
  return wanted && present == atoi(wanted) ? 0 : 3;
#else
  return present == 1 ? 0 : 3;
#endif
}
