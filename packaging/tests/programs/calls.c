// Calls of Hearth's own: this program runs on Hearth, however it is started.
#include <hearth/hearth.h>
#include <stdio.h>

int main(void) {
  void* block = omp_malloc_specific(1 << 20, OMP_MALLOC_FINE);
  printf("%s %d\n", block ? "block" : "none", hearth_num_locations() > 0);
  omp_malloc_free(block);
  return 0;
}
