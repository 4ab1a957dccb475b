// Last-level caches as locations: tasks run at the cache that their data was given to, or at the nearest one
// that has a thread; that of its node, if there is one. Idle threads of other caches leave them alone.
// env: HEARTH_BUBBLES=off HEARTH_MACHINE=epyc-nps4x2 HEARTH_LOCATION=llc HEARTH_POLICY=home-cache HEARTH_VICINITY=1
#include <omp.h>
#include <stddef.h>
#include <stdio.h>

void hearth_task_footprint(const void* begin, size_t length, int access) __attribute__((weak));
void* omp_malloc_specific(size_t size, int distribution) __attribute__((weak));
int hearth_owner(const void* address) __attribute__((weak));
int hearth_num_locations(void) __attribute__((weak));
int hearth_location_node(int location) __attribute__((weak));
int hearth_location(void) __attribute__((weak));

enum { kCaches = 16, kBytes = 1 << 20, kCoarse = 2, kReadWrite = 3 };

static char* block[kCaches];
static int ran_at[kCaches];
static int has_thread[kCaches];

static int distance(int a, int b) {
  if (a == b) return 10;
  if (a / 2 == b / 2) return 11;
  return a / 8 == b / 8 ? 12 : 32;
}

static int is_nearest(int at, int home) {
  for (int other = 0; other < kCaches; other++)
    if (has_thread[other] && distance(other, home) < distance(at, home)) return 0;
  return 1;
}

int main(void) {
  if (!hearth_num_locations) return 0;  // another runtime's business
  if (hearth_num_locations() != kCaches) {
    printf("%d locations, not %d\n", hearth_num_locations(), kCaches);
    return 1;
  }
  for (int i = 0; i < kCaches; i++) {
    if (hearth_location_node(i) != i / 2) {
      printf("cache %d is said to be on node %d\n", i, hearth_location_node(i));
      return 1;
    }
    char* one = omp_malloc_specific(kBytes, kCoarse);
    block[hearth_owner(one)] = one;
  }
  int bad = 0;
  for (int round = 0; round < 50; round++) {
#pragma omp parallel
    {
#pragma omp critical
      has_thread[hearth_location()] = 1;
#pragma omp barrier
#pragma omp single
      for (int i = 0; i < kCaches; i++) {
        hearth_task_footprint(block[i], kBytes, kReadWrite);
#pragma omp task firstprivate(i)
        ran_at[i] = hearth_location();
      }
    }
    for (int i = 0; i < kCaches; i++)
      if (!is_nearest(ran_at[i], i)) {
        printf("the data is at cache %d, a thread at cache %d ran the task\n", i, ran_at[i]);
        bad = 1;
      }
  }
  return bad;
}
