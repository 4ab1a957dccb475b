// Trees of tasks: taskwait sees children, taskgroup all descendants, barriers everything; final, undeferred
// and untied ones too.
#include <stdio.h>

static int bad;

static void expect(const char* what, long got, long want) {
  if (got == want) return;
  fprintf(stderr, "%s: %ld, not %ld\n", what, got, want);
  bad = 1;
}

static long fib(int n) {
  long x, y;
  if (n < 2) return n;
#pragma omp task shared(x) final(n < 8)
  x = fib(n - 1);
#pragma omp task shared(y) if (n % 3 != 0)
  y = fib(n - 2);
#pragma omp taskwait
  return x + y;
}

static void spread(int depth, long* leaves) {
  if (depth == 0) {
#pragma omp atomic
    ++*leaves;
    return;
  }
  for (int k = 0; k < 3; ++k) {
#pragma omp task untied firstprivate(depth)
    spread(depth - 1, leaves);
  }
}

int main(void) {
  for (int round = 0; round < 5; ++round) {
    long result = 0, grouped = 0, barred = 0, joined = 0;
    struct big {
      char bytes[5000];
    } block;
    for (int i = 0; i < 5000; ++i) block.bytes[i] = (char)i;
    long wrong = 0;
#pragma omp parallel
    {
#pragma omp single
      {
        result = fib(18);
#pragma omp taskgroup
        spread(7, &grouped);
        expect("taskgroup", grouped, 2187);
        for (int k = 0; k < 50; ++k) {
#pragma omp task firstprivate(block) shared(wrong)
          for (int i = 0; i < 5000; ++i)
            if (block.bytes[i] != (char)i) {
#pragma omp atomic
              wrong++;
            }
        }
      }
#pragma omp single nowait
      spread(7, &barred);
#pragma omp barrier
#pragma omp single
      expect("barrier", barred, 2187);
#pragma omp single nowait
      spread(6, &joined);
    }
    expect("fib", result, 2584);
    expect("join", joined, 729);
    expect("firstprivate copies", wrong, 0);
  }
  return bad;
}
