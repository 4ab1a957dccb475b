// Cancelled loops and sections: everybody leaves, nobody waits for ever, and the next constructs are whole.
// No reduction on a loop that is cancelled: clang 19's cancelled threads skip the reduction with its barrier
// and the others do not, which hangs on libomp too.
// env: OMP_CANCELLATION=true
// also-on: opteron-6172x4
#include "loops.h"

static int touched;

#define CANCEL(...)                                                                    \
  for (int r = 0; r < 20; ++r) {                                                       \
    int ran = 0;                                                                       \
    PRAGMA(omp parallel) {                                                             \
      PRAGMA(omp for schedule(__VA_ARGS__))                                            \
      for (int i = 0; i < 2000; ++i) {                                                 \
        PRAGMA(omp cancellation point for)                                             \
        __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);                                 \
        if (i % 100 == 50) {                                                           \
          PRAGMA(omp cancel for)                                                       \
        }                                                                              \
      }                                                                                \
      PRAGMA(omp for schedule(__VA_ARGS__))                                            \
      for (int i = 0; i < 300; ++i) HIT(i);                                            \
      PRAGMA(omp for schedule(dynamic))                                                \
      for (int i = 0; i < 300; ++i) HIT(i);                                            \
    }                                                                                  \
    if (ran >= 2000) fail("cancelled " #__VA_ARGS__, ran, 1999);                       \
  }                                                                                    \
  check_hits("loops after a cancelled one, " #__VA_ARGS__, 300, 40);                   \
  for (int r = 0; r < 20; ++r) {                                                       \
    PRAGMA(omp parallel) {                                                             \
      PRAGMA(omp for schedule(__VA_ARGS__) nowait)                                     \
      for (int i = 0; i < 500; ++i) __atomic_fetch_add(&touched, 1, __ATOMIC_RELAXED); \
      if (omp_get_thread_num() == r % omp_get_num_threads()) {                         \
        PRAGMA(omp cancel parallel)                                                    \
      }                                                                                \
      PRAGMA(omp for schedule(__VA_ARGS__))                                            \
      for (int i = 0; i < 500; ++i) __atomic_fetch_add(&touched, 1, __ATOMIC_RELAXED); \
      PRAGMA(omp cancellation point parallel)                                          \
    }                                                                                  \
    PRAGMA(omp parallel) {                                                             \
      PRAGMA(omp for schedule(__VA_ARGS__) nowait)                                     \
      for (int i = 0; i < 300; ++i) HIT(i);                                            \
      PRAGMA(omp single)                                                               \
      for (int i = 0; i < 300; ++i) HIT(i);                                            \
    }                                                                                  \
  }                                                                                    \
  check_hits("a region after a cancelled one, " #__VA_ARGS__, 300, 40);

int main(void) {
  CANCEL(static)
  CANCEL(static, 3)
  CANCEL(dynamic)
  CANCEL(dynamic, 10)
  CANCEL(monotonic : dynamic)
  CANCEL(guided)
  for (int r = 0; r < 20; ++r) {
#pragma omp parallel
    {
#pragma omp sections
      {
#pragma omp section
        {
#pragma omp cancel sections
        }
#pragma omp section
        __atomic_fetch_add(&touched, 1, __ATOMIC_RELAXED);
      }
#pragma omp single
      HIT(0);
    }
  }
  check_hits("single after cancelled sections", 1, 20);
  return failures != 0;
}
