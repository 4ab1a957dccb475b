// Regions of the default size, and what the settings of the environment left of them: prints the size.
#include "check.h"

int main(void) {
  for (int i = 0; i < 100; ++i) team_of(omp_get_max_threads());
  printf("%d\n", team_of(omp_get_max_threads()));
  return 0;
}
