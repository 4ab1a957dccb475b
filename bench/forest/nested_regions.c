// What a nested region costs: every member of the outer team opens `--regions` empty regions, one after another. The
// result is the time per nested region, all members opening theirs at the same time.
#include <omp.h>

#include "forest.h"

enum { kMostTeams = 1024 };
static struct forest_option options[] = {{"regions", 500, 1, 1 << 20, NULL}, {NULL, 0, 0, 0, NULL}};

static struct {
  long ran;
  char apart[128 - sizeof(long)];
} count_of[kMostTeams];

static void open_regions(long regions) {
#pragma omp parallel num_threads(forest.teams)
  {
    long* ran = &count_of[omp_get_thread_num()].ran;
    for (long r = 0; r < regions; ++r) {
#pragma omp parallel num_threads(forest.threads)
      __atomic_fetch_add(ran, 1, __ATOMIC_RELAXED);
    }
  }
}

static void repeat(void) {
  const long regions = options[0].value;
  open_regions(2);  // threads are made
  for (int team = 0; team < forest.teams; ++team) count_of[team].ran = 0;
  forest_begin();
  const double start = omp_get_wtime();
  open_regions(regions);
  const double seconds = omp_get_wtime() - start;
  forest_end();
  for (int team = 0; team < forest.teams; ++team) {
    if (count_of[team].ran != regions * forest.threads)
      forest_fail("member %d: bodies ran %ld times, not %ld", team, count_of[team].ran, regions * forest.threads);
  }
  forest_time("region", 0, seconds / (double)regions);
}

int main(int argc, char** argv) {
  return forest_main(argc, argv, &(struct forest_program){"nested_regions", options, 2, repeat});
}
