// Task reductions: taskgroup, parallel, worksharing and taskloop, with tasks inside tasks.
// also-on: opteron-6172x4
#include <stdio.h>

static int bad;

static void expect(const char* what, long got, long want) {
  if (got == want) return;
  fprintf(stderr, "%s: %ld, not %ld\n", what, got, want);
  bad = 1;
}

int main(void) {
  for (int round = 0; round < 100; ++round) {
    int a = 0, c = 0, d = 0, e = 0, members = 0;
    double b = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : a) task_reduction(+ : b)
    {
      for (int k = 0; k < 50; ++k) {
#pragma omp task in_reduction(+ : a)
        {
          a += 1;
#pragma omp task in_reduction(+ : a)
          a += 1;
        }
      }
#pragma omp taskloop in_reduction(+ : b)
      for (int i = 0; i < 10; ++i) b += i;
    }
    expect("taskgroup", a, 100);
    expect("taskloop in taskgroup", (long)b, 45);
#pragma omp parallel reduction(task, + : c) reduction(+ : members)
    {
      members = 1;
#pragma omp task in_reduction(+ : c)
      c++;
    }
    expect("parallel", c, members);
#pragma omp parallel
#pragma omp for reduction(task, + : d)
    for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : d)
      d++;
    }
    expect("worksharing loop", d, 100);
#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : e) grainsize(3)
    for (int i = 0; i < 100; ++i) e++;
    expect("taskloop", e, 100);
  }
  return bad;
}
