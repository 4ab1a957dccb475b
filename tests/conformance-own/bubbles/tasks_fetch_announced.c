// Memory waits for its next touch; a task that names it in its footprint is sent elsewhere by other memory, and takes it
// along, if it is large enough for that. What a task names at its home waits no longer.
// Ten passes over remote memory have to cost more than moving it: so they do between all nodes of this machine.
// env: HEARTH_MACHINE=opteron-6172x4
#include <omp.h>
#include <stddef.h>
#include <stdio.h>

#include "expect.h"

void* hearth_mem_alloc(size_t size, int policy, int location) __attribute__((weak));
void hearth_mem_free(void* block) __attribute__((weak));
int hearth_mem_locate(const void* address, size_t size, int* location) __attribute__((weak));
int hearth_mem_next_touch(void* address, size_t size, int how) __attribute__((weak));
void hearth_task_footprint(const void* begin, size_t length, int access) __attribute__((weak));
int hearth_location(void) __attribute__((weak));

enum { kBlocks = 8, kLarge = 2 << 20, kPage = 4096, kAt = 2, kRead = 1, kWrite = 2, kDecides = 4, kAnnounced = 0 };

static int home_of(const void* block, size_t size) {
  int location = -9;
  expect(hearth_mem_locate(block, size, &location) == 0, "locate");
  return location;
}

static void run_tasks(size_t size, int follows) {
  char *announced[kBlocks], *magnet[kBlocks];
  int ran[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    announced[i] = hearth_mem_alloc(size, kAt, 0);
    magnet[i] = hearth_mem_alloc(kLarge, kAt, i % 4);
  }
#pragma omp parallel
#pragma omp single
  {
    // Inside of the region: else its members would take their parts as it begins.
    for (int i = 0; i < kBlocks; ++i) expect(hearth_mem_next_touch(announced[i], size, kAnnounced) == 0, "announce");
    for (int i = 0; i < kBlocks; ++i) {
      hearth_task_footprint(announced[i], size, kWrite);
      hearth_task_footprint(magnet[i], kLarge, kRead | kDecides);
#pragma omp task shared(ran)
      ran[i] = hearth_location();
    }
  }
  for (int i = 0; i < kBlocks; ++i) {
    const int wanted = follows ? ran[i] : 0;
    if (home_of(announced[i], size) != wanted) {
      printf("task %d ran at %d, its %zu bytes are at %d\n", i, ran[i], size, home_of(announced[i], size));
      ++failures;
    }
    hearth_mem_free(announced[i]);
    hearth_mem_free(magnet[i]);
  }
}

int main(void) {
  if (!hearth_mem_alloc || omp_get_max_threads() == 1) return 0;
  run_tasks(kLarge, 1);
  run_tasks(kPage, 0);
  return failures != 0;
}
