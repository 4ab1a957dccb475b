// An OpenMP object that programs without OpenMP open by dlopen().
#include <omp.h>

int part_team(int wanted) {
  int size = 0;
#pragma omp parallel num_threads(wanted)
#pragma omp single
  size = omp_get_num_threads();
  return size;
}
