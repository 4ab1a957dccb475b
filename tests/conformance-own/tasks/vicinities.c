// Policy home-cache with vicinities of one home cache: each task runs at the home of its data, or at the
// nearest one that has a thread; tasks without data, and with data that is spread evenly, stay with the
// thread that makes them.
// env: HEARTH_BUBBLES=off HEARTH_MACHINE=tilepro64 HEARTH_POLICY=home-cache HEARTH_VICINITY=1
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void hearth_task_footprint(const void* begin, size_t length, int access) __attribute__((weak));
void* omp_malloc_specific(size_t size, int distribution) __attribute__((weak));
int hearth_owner(const void* address) __attribute__((weak));

enum { kTiles = 63, kWidth = 8, kBytes = 64 << 10, kFine = 1, kCoarse = 2, kRead = 1, kDecides = 4 };

static char* block[kTiles];
static int ran_on[kTiles];
static int threads, creator;

static int cycles(int from, int to) {
  return from == to ? 10 : 38 + 2 * (abs(from % kWidth - to % kWidth) + abs(from / kWidth - to / kWidth));
}

// Unbound threads are dealt round the pretended tiles.
static int tile_of(int thread) { return thread * kTiles / threads; }

static int is_nearest(int thread, int tile) {
  for (int other = 0; other < threads; other++)
    if (cycles(tile_of(other), tile) < cycles(tile_of(thread), tile)) return 0;
  return 1;
}

static int check_nearest(const char* what) {
  for (int i = 0; i < kTiles; i++)
    if (!is_nearest(ran_on[i], i)) {
      printf("%s: the data is at tile %d, thread %d at tile %d ran it\n", what, i, ran_on[i],
             tile_of(ran_on[i]));
      return 1;
    }
  return 0;
}

static int check_kept(const char* what) {
  for (int i = 0; i < kTiles; i++)
    if (ran_on[i] != creator) {
      printf("%s: made by thread %d, run by %d\n", what, creator, ran_on[i]);
      return 1;
    }
  return 0;
}

// Runs a task for each tile. `next` says what the next one touches.
static void run(void (*next)(int)) {
#pragma omp parallel
  {
#pragma omp barrier  // now all are at their tiles
#pragma omp single
    {
      threads = omp_get_num_threads();
      creator = omp_get_thread_num();
      for (int i = 0; i < kTiles; i++) {
        next(i);
#pragma omp task firstprivate(i)
        ran_on[i] = omp_get_thread_num();
      }
    }
  }
}

static void whole_block(int i) { hearth_task_footprint(block[i], kBytes, kRead); }

static void few_bytes(int i) { hearth_task_footprint(block[i], 4096, kRead); }

static void few_bytes_that_decide(int i) {
  hearth_task_footprint(block[(i + 1) % kTiles], kBytes, kRead);
  hearth_task_footprint(block[i], 4096, kRead | kDecides);
}

static void nothing(int i) { (void)i; }

static char* fine;
static void spread(int i) { hearth_task_footprint(fine + i % 7 * 64, kBytes, kRead); }

int main(void) {
  if (!hearth_task_footprint || !omp_malloc_specific || !hearth_owner)
    return 0;  // another runtime's business
  for (int i = 0; i < kTiles; i++) {
    char* one = omp_malloc_specific(kBytes, kCoarse);
    block[hearth_owner(one)] = one;
  }
  fine = omp_malloc_specific(2 * kBytes, kFine);
  int bad = 0;
  for (int round = 0; round < 20; round++) {
    run(whole_block);
    bad |= check_nearest("more than the first-level cache holds");
    run(few_bytes);
    bad |= check_kept("less than the first-level cache holds");
    run(few_bytes_that_decide);
    bad |= check_nearest("few bytes that decide");
    run(nothing);
    bad |= check_kept("nothing known");
    run(spread);
    bad |= check_kept("spread evenly");
  }
  return bad;
}
