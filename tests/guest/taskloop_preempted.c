// Short taskloops by a thread that keeps losing its CPU, wherever in the runtime it is: on one CPU, beside a
// thread that spins.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "check.h"

static atomic_bool over;

static void* spin(void* unused) {
  while (!atomic_load_explicit(&over, memory_order_relaxed)) {
  }
  return unused;
}

int main(void) {
  enum { kLoops = 2000000 };
  pthread_t spinner;
  CHECK(pthread_create(&spinner, NULL, spin, NULL) == 0);
  long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int round = 0; round < kLoops; ++round) {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 2; ++i) {
#pragma omp atomic
      sum += i + 1;
    }
  }
  CHECK(sum == 3L * kLoops);
  atomic_store(&over, true);
  pthread_join(spinner, NULL);
  return 0;
}
