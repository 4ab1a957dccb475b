// Thousands of tasks with large private data: only as many of them wait as fit into a cache, so that they do not fill
// the memory with descriptors that are touched once.
#include <sys/resource.h>

#include "check.h"

enum { kTasks = 2400, kBytes = 11 << 10 };

struct Block {
  char bytes[kBytes];
};

static long page_faults(void) {
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_minflt;
}

int main(void) {
  long sum = 0, before = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    struct Block block;
    for (int i = 0; i < kBytes; ++i) block.bytes[i] = 1;
    before = page_faults();
    for (int i = 0; i < kTasks; ++i) {
#pragma omp task untied firstprivate(block) shared(sum)
      {
        long mine = 0;
        for (int k = 0; k < kBytes; k += 1024) mine += block.bytes[k];
#pragma omp atomic
        sum += mine;
      }
    }
  }
  CHECK(sum == (long)kTasks * (kBytes / 1024));
  // 256 waiting descriptors, the cut-off for small ones, have some 700 pages.
  CHECK(page_faults() - before < 400);
  return 0;
}
