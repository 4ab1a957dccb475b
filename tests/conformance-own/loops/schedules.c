// Every iteration runs exactly once: all schedules, types, directions, with and without barriers between the
// loops.
// also-on: opteron-6172x4
#include <limits.h>

#include "loops.h"

enum { kRepeat = 10 };

// Through a function, so that no compiler warns of loops that it sees to be empty.
static int narrow(int n) { return n; }
static unsigned long long wide(long n) { return (unsigned long long)n; }

#define SCHEDULE_AND_COUNT(n, ...)                                                                \
  {                                                                                               \
    PRAGMA(omp parallel)                                                                          \
    for (int r = 0; r < kRepeat; ++r) {                                                           \
      PRAGMA(omp for schedule(__VA_ARGS__) nowait)                                                \
      for (int i = 0; i < n; ++i) HIT(i);                                                         \
    }                                                                                             \
    check_hits("nowait, " #__VA_ARGS__, n, kRepeat);                                              \
    for (int r = 0; r < kRepeat; ++r) {                                                           \
      PRAGMA(omp parallel for schedule(__VA_ARGS__))                                              \
      for (long i = n - 1; i >= 0; --i) HIT(i);                                                   \
    }                                                                                             \
    check_hits("parallel for, downwards, " #__VA_ARGS__, n, kRepeat);                             \
    PRAGMA(omp parallel)                                                                          \
    for (int r = 0; r < kRepeat; ++r) {                                                           \
      PRAGMA(omp for schedule(__VA_ARGS__))                                                       \
      for (unsigned long long i = 0; i < wide(n) * 3; i += 3) HIT(i / 3);                         \
    }                                                                                             \
    check_hits("by threes, " #__VA_ARGS__, n, kRepeat);                                           \
    PRAGMA(omp parallel for schedule(__VA_ARGS__))                                                \
    for (unsigned i = UINT_MAX - (unsigned)narrow(n); i < UINT_MAX; ++i) HIT(i - (UINT_MAX - n)); \
    check_hits("up to the type's end, " #__VA_ARGS__, n, 1);                                      \
    PRAGMA(omp parallel for schedule(__VA_ARGS__))                                                \
    for (unsigned long long i = ULLONG_MAX; i > ULLONG_MAX - wide(n); --i) HIT(ULLONG_MAX - i);   \
    check_hits("down from the type's end, " #__VA_ARGS__, n, 1);                                  \
    PRAGMA(omp parallel for schedule(__VA_ARGS__))                                                \
    for (int i = INT_MIN; i < INT_MIN + narrow(n); ++i) HIT((long)i - INT_MIN);                   \
    check_hits("up from the type's start, " #__VA_ARGS__, n, 1);                                  \
    int last = -1;                                                                                \
    long sum = 0;                                                                                 \
    if (n > 0) { /* of an empty loop all threads of gcc's code write `last`: a race */            \
      PRAGMA(omp parallel for schedule(__VA_ARGS__) lastprivate(last) reduction(+ : sum))         \
      for (int i = 0; i < n; ++i) last = i, sum += i;                                             \
      check_long("lastprivate, " #__VA_ARGS__, last, n - 1);                                      \
    }                                                                                             \
    check_long("reduction, " #__VA_ARGS__, sum, (long)n*(n - 1) / 2);                             \
  }

#define SIZES(...)                      \
  SCHEDULE_AND_COUNT(0, __VA_ARGS__)    \
  SCHEDULE_AND_COUNT(1, __VA_ARGS__)    \
  SCHEDULE_AND_COUNT(7, __VA_ARGS__)    \
  SCHEDULE_AND_COUNT(1000, __VA_ARGS__) \
  SCHEDULE_AND_COUNT(65537, __VA_ARGS__)

static void compiled_schedules(void) {
  SIZES(static)
  SIZES(static, 1)
  SIZES(static, 7)
  SIZES(dynamic)
  SIZES(dynamic, 7)
  SIZES(nonmonotonic : dynamic, 100000)
  SIZES(monotonic : dynamic)
  SIZES(guided)
  SIZES(guided, 7)
  SIZES(monotonic : guided, 3)
  SIZES(auto)
}

static void schedules_at_run_time(void) {
  const unsigned kinds[] = {1, 2, 3, 4, 0x80000001u, 0x80000002u, 0x80000003u};
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    for (int chunk = 0; chunk < 6; chunk += 5) {
      omp_set_schedule((omp_sched_t)kinds[k], chunk);
      SCHEDULE_AND_COUNT(1000, runtime)
      SCHEDULE_AND_COUNT(1000, monotonic : runtime)
      SCHEDULE_AND_COUNT(1000, nonmonotonic : runtime)
    }
}

static void monotonic_means_rising(void) {
  int fallen = 0;
#pragma omp parallel
  {
    int before = -1;
#pragma omp for schedule(monotonic : dynamic, 3) reduction(+ : fallen)
    for (int i = 0; i < 5000; ++i) {
      fallen += i <= before;
      before = i;
    }
    before = -1;
#pragma omp for schedule(monotonic : guided) reduction(+ : fallen)
    for (int i = 0; i < 5000; ++i) {
      fallen += i <= before;
      before = i;
    }
  }
  check_long("iterations out of order", fallen, 0);
}

static void teams_that_change_size(void) {
  const int most = omp_get_max_threads();
  for (int r = 0; r < 60; ++r) {
#pragma omp parallel num_threads(1 + r % most)
    {
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 500; ++i) HIT(i);
#pragma omp for schedule(guided) nowait
      for (int i = 0; i < 500; ++i) HIT(i);
#pragma omp single nowait
      for (int i = 0; i < 500; ++i) HIT(i);
    }
  }
  check_hits("teams of changing size", 500, 3 * 60);
}

// One member runs far ahead of another that sleeps: it must neither take that member's iterations twice nor
// lose any.
static void a_member_far_behind(void) {
#pragma omp parallel
  for (int r = 0; r < 40; ++r) {
    if (omp_get_thread_num() == 0 && r % 20 == 3) {
      const double until = omp_get_wtime() + 0.01;
      while (omp_get_wtime() < until) {
      }
    }
#pragma omp for schedule(dynamic, 2) nowait
    for (int i = 0; i < 300; ++i) HIT(i);
#pragma omp for schedule(monotonic : dynamic, 2) nowait
    for (int i = 0; i < 300; ++i) HIT(i);
  }
  check_hits("a member far behind", 300, 80);
}

static void loops_in_nested_regions(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
  for (int r = 0; r < 5; ++r) {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 200; ++i) HIT(i);
  }
  check_hits("nested regions", 200, 10);
}

int main(void) {
  compiled_schedules();
  schedules_at_run_time();
  monotonic_means_rising();
  teams_that_change_size();
  a_member_far_behind();
  loops_in_nested_regions();
  return failures != 0;
}
