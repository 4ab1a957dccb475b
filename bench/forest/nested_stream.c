// Nested-STREAM (Broquedis et al. 2009, section 4.3): one team per NUMA node, each with vectors of its own that it
// touched first. A nested region per kernel, so a runtime that remakes nested teams shows it.
#include <omp.h>
#include <stdlib.h>

#include "vectors.h"

static double seconds[kKernelCount];

static void run_kernels(const struct vectors* of_team) {
#pragma omp parallel num_threads(forest.teams)
  {
    const struct vectors v = of_team[omp_get_thread_num()];
    for (int pass = 0; pass < forest.passes; ++pass) {
      for (int k = 0; k < kKernelCount; ++k) {
        double start = 0;
#pragma omp barrier
#pragma omp masked
        start = omp_get_wtime();
        kKernels[k].run(v, forest.threads);
#pragma omp barrier
#pragma omp masked
        seconds[k] += omp_get_wtime() - start;
      }
    }
  }
}

static void repeat(void) {
  struct vectors* of_team = malloc((size_t)forest.teams * sizeof *of_team);
  if (of_team == NULL) forest_fail("no memory");
#pragma omp parallel num_threads(forest.teams)
  {
    const int me = omp_get_thread_num();
    of_team[me] = vectors_new(forest.threads);
    vectors_fill(of_team[me], forest.threads);
  }
  for (int k = 0; k < kKernelCount; ++k) seconds[k] = 0;

  forest_begin();
  run_kernels(of_team);
  forest_end();

  double bytes = 0;
  for (int team = 0; team < forest.teams; ++team) {
    vectors_check(of_team[team], after_passes(forest.passes));
    bytes += (double)of_team[team].length * sizeof(word) * forest.passes;
    vectors_release(of_team[team]);
  }
  for (int k = 0; k < kKernelCount; ++k) forest_time(kKernels[k].name, bytes * kKernels[k].vectors, seconds[k]);
  free(of_team);
}

int main(int argc, char** argv) {
  return forest_main(argc, argv, &(struct forest_program){.name = "nested_stream", .least_teams = 2, .repeat = repeat});
}
