// taskloop: every iteration once, for both directions and odd strides, with each clause; lastprivate; sizes
// that grainsize promises.
// also-on: opteron-6172x4
#include <stdio.h>

static int bad;
static int hits[1000];

static void expect(const char* what, long got, long want) {
  if (got == want) return;
  fprintf(stderr, "%s: %ld, not %ld\n", what, got, want);
  bad = 1;
}

static void check(const char* what, int from, int to, int step) {
  int expected[1000] = {0};
  for (int i = from; step > 0 ? i < to : i > to; i += step) expected[i]++;
  for (int i = 0; i < 1000; ++i) {
    if (hits[i] != expected[i]) expect(what, hits[i], expected[i]);
    hits[i] = 0;
  }
}

#define HIT(i)                       \
  do {                               \
    _Pragma("omp atomic") hits[i]++; \
  } while (0)

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    int last = -1;
#pragma omp taskloop
    for (int i = 0; i < 1000; ++i) HIT(i);
    check("plain", 0, 1000, 1);
#pragma omp taskloop num_tasks(7) lastprivate(last)
    for (int i = 200; i > 0; i -= 3) {
      last = i;
      HIT(i);
    }
    check("downwards", 200, 0, -3);
    expect("lastprivate", last, 2);
#pragma omp taskloop grainsize(13)
    for (unsigned long long i = 5; i < 900; i += 7) HIT(i);
    check("unsigned", 5, 900, 7);
#pragma omp taskloop if (0)
    for (long i = 3; i < 10; ++i) HIT(i);
    check("undeferred", 3, 10, 1);
#pragma omp taskgroup
    {
#pragma omp taskloop nogroup
      for (int i = 0; i < 100; ++i) HIT(i);
    }
    check("nogroup", 0, 100, 1);
#pragma omp taskloop
    for (int i = 10; i < 10; ++i) HIT(i);
    check("empty", 0, 0, 1);
#pragma omp taskloop collapse(2) grainsize(1)
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 20; ++j) HIT(i * 20 + j);
    check("collapse", 0, 200, 1);
  }
  return bad;
}
