// Tasks that are dealt to different locations and wait for each other's places: A waits for a child in B's
// inbox while B waits for one in A's, with one task in each inbox, which is below every threshold of
// stealing. Nobody may wait for ever.
// env: HEARTH_MACHINE=opteron-6172x4 HEARTH_POLICY=locality HEARTH_STEAL_THRESHOLD=hops
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

// Weak: on another runtime the tasks are dealt as it likes.
void hearth_task_footprint(const void* begin, size_t length, int access) __attribute__((weak));
void* omp_malloc_specific(size_t size, int distribution) __attribute__((weak));
void omp_malloc_free(void* block) __attribute__((weak));
int hearth_owner(const void* address) __attribute__((weak));

#ifndef LOCATIONS
#define LOCATIONS 8
#define ROUNDS 300
#endif
enum { kLocations = LOCATIONS, kBytes = 1 << 20, kRounds = ROUNDS, kCoarse = 2 };

static char* block[kLocations];  // one at each location
static int ran;

static void next_task_at(int location) {
  if (hearth_task_footprint) hearth_task_footprint(block[location % kLocations], kBytes, 3);
}

static void child_at(int location) {
  next_task_at(location);
#pragma omp task
  {
#pragma omp atomic
    ran++;
  }
#pragma omp taskwait
}

static void each_waits_at_the_others_place(int a, int b) {
  next_task_at(a);
#pragma omp task
  child_at(b);
  next_task_at(b);
#pragma omp task
  child_at(a);
}

// Every level waits for the next one, elsewhere.
static void descend(int levels) {
  if (levels == 0) return;
  next_task_at(levels * 3);
#pragma omp task
  descend(levels - 1);
  next_task_at(levels * 3 + 4);
#pragma omp task
  descend(levels - 1);
#pragma omp taskwait
#pragma omp atomic
  ran++;
}

static int check(const char* what, int expected) {
  if (ran == expected) return 0;
  printf("%s: %d tasks ran, not %d\n", what, ran, expected);
  return 1;
}

int main(void) {
  for (int i = 0; i < kLocations; i++) {
    char* one = omp_malloc_specific ? omp_malloc_specific(kBytes, kCoarse) : malloc(kBytes);
    if (one == NULL) return 1;
    const int owner = hearth_owner ? hearth_owner(one) : i;
    if (owner < 0 || owner >= kLocations || block[owner] != NULL) {
      printf("coarse block %d belongs to location %d\n", i, owner);
      return 1;
    }
    block[owner] = one;
  }
  int bad = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < kRounds; round++) {
    each_waits_at_the_others_place(round, round + 1 + round % 7);
#pragma omp taskwait
  }
  bad |= check("two that wait for each other", 2 * kRounds);

  ran = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < kRounds; round++)
    for (int i = 0; i < kLocations; i++) each_waits_at_the_others_place(i, kLocations - 1 - i);
  bad |= check("all that wait for all, until the barrier", 2 * kRounds * kLocations);

  ran = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
    next_task_at(5);
#pragma omp task
    descend(10);
  }
  bad |= check("a tree", (1 << 10) - 1);
  return bad;
}
