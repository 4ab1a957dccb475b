// Fibonacci by recursion: two tasks and a taskwait per call, and next to no work in them.
//
// Without cut-off it is nothing but task creation. Tasks write to their parent's stack, and only there.
#include <stddef.h>

#include "../common/bench.h"
#include "driver.h"

static int n;
static int serial_below;
static long answer;
static long result;

static long fib_serial(int k) {
  __asm__ volatile("" : "+r"(k));  // keeps the compiler from unrolling the recursion into something else
  return k < 2 ? k : fib_serial(k - 1) + fib_serial(k - 2);
}

static long fib(int k) {
  long x;
  long y;
  if (k < 2) return k;
  if (k < serial_below) return fib_serial(k);
#pragma omp task shared(x) firstprivate(k)
  x = fib(k - 1);
#pragma omp task shared(y) firstprivate(k)
  y = fib(k - 2);
#pragma omp taskwait
  return x + y;
}

static void prepare(bool cutoff) {
  n = cutoff ? 33 : 21;
  serial_below = cutoff ? 16 : 0;
  long previous = 0;
  answer = 1;
  for (int k = 1; k < n; ++k) {
    const long next = previous + answer;
    previous = answer;
    answer = next;
  }
}

static void run(void) {
#pragma omp parallel
#pragma omp single
  result = fib(n);
}

static void check(void) {
  if (result != answer) bench_fail("fib(%d) = %ld, not %ld", n, result, answer);
  result = -1;
}

int main(int argc, char** argv) {
  static const struct task_benchmark benchmark = {
      "fib", "fib(33), serial below 16", "fib(21)", prepare, NULL, run, check};
  return task_benchmark_main(argc, argv, &benchmark);
}
