// STREAM (McCalpin) with integers: one team, vectors that it touched first, four kernels.
#include <omp.h>

#include "vectors.h"

static void repeat(void) {
  const int threads = forest.threads;
  const struct vectors v = vectors_new(threads);
  vectors_fill(v, threads);
  double seconds[kKernelCount] = {0};
  forest_begin();
  for (int pass = 0; pass < forest.passes; ++pass) {
    for (int k = 0; k < kKernelCount; ++k) {
      const double start = omp_get_wtime();
      kKernels[k].run(v, threads);
      seconds[k] += omp_get_wtime() - start;
    }
  }
  forest_end();
  vectors_check(v, after_passes(forest.passes));
  const double bytes = (double)v.length * sizeof(word) * forest.passes;
  for (int k = 0; k < kKernelCount; ++k) forest_time(kKernels[k].name, bytes * kKernels[k].vectors, seconds[k]);
  vectors_release(v);
}

int main(int argc, char** argv) {
  return forest_main(argc, argv, &(struct forest_program){.name = "stream", .least_teams = 1, .repeat = repeat});
}
