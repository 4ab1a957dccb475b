// A fixed amount of work in many short regions, for measuring what a runtime burns beside it: quota [STEPS]
//
// A step is a region with uneven shares and a barrier, a dynamic loop, and a tree of tasks, about 2 ms of
// computing in all, the same for any number of threads. Under a CPU quota or with more threads than CPUs,
// whoever spins while waiting takes time that a worker needs; the caller reads the process's CPU time and the
// group's throttled periods. The result is checked. Prints the number of threads.
#include <omp.h>
#include <stdio.h>

#include "../common/bench.h"

enum { kUnits = 192, kUnitSteps = 2600 };  // a unit is about 3 us

static long done = 0;

static void compute(void) {
  unsigned long x = 1;
  for (int i = 0; i < kUnitSteps; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
#pragma omp atomic
  done += 1;
}

static void tree(int depth) {
  if (depth == 0) {
    compute();
    return;
  }
  for (int child = 0; child < 2; ++child) {
#pragma omp task firstprivate(depth)
    tree(depth - 1);
  }
#pragma omp taskwait
}

static void step(void) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads();
    const int self = omp_get_thread_num();
    for (int unit = 0; unit < kUnits; ++unit) {  // in halves: thread 0 has one half, the rest share the other
      const int owner = threads == 1 || unit < kUnits / 2 ? 0 : 1 + unit % (threads - 1);
      if (owner == self) compute();
    }
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int unit = 0; unit < kUnits; ++unit) compute();
#pragma omp single
    tree(7);
#pragma omp single
    tree(6);
  }
}

int main(int argc, char** argv) {
  const long steps = bench_parse_long("STEPS", argc > 1 ? argv[1] : "200", 1, 1000000);
  for (long s = 0; s < steps; ++s) step();
  const long expected = steps * (2 * kUnits + 128 + 64);
  if (done != expected) bench_fail("quota: %ld units done instead of %ld", done, expected);
  printf("%d\n", omp_get_max_threads());
  return 0;
}
