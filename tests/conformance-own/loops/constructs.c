// sections, single, copyprivate, masked, ordered, doacross and reductions.
// also-on: opteron-6172x4
#include "loops.h"

enum { kRows = 90, kColumns = 30 };
static long grid[kRows][kColumns];

static void sections_and_singles(void) {
  for (int r = 0; r < 50; ++r) {
#pragma omp parallel
    {
#pragma omp sections nowait
      {
#pragma omp section
        HIT(0);
#pragma omp section
        HIT(1);
#pragma omp section
        HIT(2);
      }
#pragma omp sections
      {
#pragma omp section
        HIT(3);
#pragma omp section
        HIT(4);
      }
      int told = 0;
#pragma omp single
      HIT(5);
#pragma omp single nowait
      HIT(6);
#pragma omp single copyprivate(told)
      told = 42 + r;
      check_long("copyprivate", told, 42 + r);
#pragma omp master
      HIT(7);
    }
#pragma omp parallel sections
    {
#pragma omp section
      HIT(8);
#pragma omp section
      HIT(9);
    }
  }
  check_hits("sections and single", 10, 50);
}

#define ORDERED(...)                                                  \
  {                                                                   \
    long next = 0, wrong = 0;                                         \
    PRAGMA(omp parallel)                                              \
    for (int r = 0; r < 8; ++r) {                                     \
      PRAGMA(omp for ordered schedule(__VA_ARGS__))                   \
      for (int i = 0; i < 200; ++i) {                                 \
        PRAGMA(omp ordered) {                                         \
          wrong += next != i + 200 * r;                               \
          ++next;                                                     \
        }                                                             \
      }                                                               \
    }                                                                 \
    check_long("ordered " #__VA_ARGS__, wrong, 0);                    \
    check_long("ordered regions " #__VA_ARGS__, next, 1600);          \
    long before = -1;                                                 \
    PRAGMA(omp parallel for ordered schedule(__VA_ARGS__))            \
    for (int i = 0; i < 500; ++i) {                                   \
      if (i % 3 == 0) {                                               \
        PRAGMA(omp ordered) {                                         \
          wrong += before >= i;                                       \
          before = i;                                                 \
        }                                                             \
      }                                                               \
    }                                                                 \
    check_long("not all ordered " #__VA_ARGS__, wrong, 0);            \
    check_long("the last ordered region " #__VA_ARGS__, before, 498); \
  }

static long from_neighbours(int i, int j) {
  return (1 + (i > 0 ? grid[i - 1][j] : 0) + (j > 0 ? grid[i][j - 1] : 0)) % 1000003;
}

static void check_grid(const char* what) {
  long wrong = 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) wrong += grid[i][j] != from_neighbours(i, j);
  check_long(what, wrong, 0);
  memset(grid, 0, sizeof grid);
}

#define DOACROSS(...)                                                       \
  for (int r = 0; r < 4; ++r) {                                             \
    PRAGMA(omp parallel for ordered(2) schedule(__VA_ARGS__))               \
    for (int i = 0; i < kRows; ++i)                                         \
      for (int j = 0; j < kColumns; ++j) {                                  \
        PRAGMA(omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)) \
        grid[i][j] = from_neighbours(i, j);                                 \
        PRAGMA(omp ordered depend(source))                                  \
      }                                                                     \
    check_grid("doacross " #__VA_ARGS__);                                   \
  }                                                                         \
  PRAGMA(omp parallel for collapse(2) ordered(2) schedule(__VA_ARGS__))     \
  for (int i = 0; i < kRows; ++i)                                           \
    for (int j = 0; j < kColumns; ++j) {                                    \
      PRAGMA(omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1))   \
      grid[i][j] = from_neighbours(i, j);                                   \
      PRAGMA(omp ordered depend(source))                                    \
    }                                                                       \
  check_grid("doacross, collapsed, " #__VA_ARGS__);

static void reductions(void) {
  for (int r = 0; r < 50; ++r) {
    double d = 0;
    int most = 0, array[5] = {0}, all = 1;
    struct pair {
      long a, b;
    } pair = {0, 0};
#pragma omp declare reduction(add : struct pair : omp_out.a += omp_in.a, omp_out.b += omp_in.b) \
    initializer(omp_priv = {0, 0})
#pragma omp parallel reduction(+ : d, array) reduction(max : most) reduction(add : pair) reduction(&& : all)
    {
      d += 1;
      most = omp_get_thread_num();
      all = all && most >= 0;
      for (int i = 0; i < 5; ++i) array[i] += i;
      pair.a += 1;
      pair.b += omp_get_thread_num();
    }
    const int n = omp_get_max_threads();
    check_long("reduction of a sum", (long)d, n);
    check_long("reduction of a maximum", most, n - 1);
    check_long("reduction of an array", array[4], 4 * n);
    check_long("reduction of a structure", pair.a * 1000 + pair.b, n * 1000 + n * (n - 1) / 2);
    check_long("reduction of a truth", all, 1);
    long total = 0;
#pragma omp parallel
    {
#pragma omp for reduction(+ : total) schedule(dynamic, 5)
      for (int i = 0; i < 1000; ++i) total += i;
      check_long("a loop's reduction, after the loop", total, 499500);
    }
  }
}

int main(void) {
  sections_and_singles();
  ORDERED(static)
  ORDERED(static, 3)
  ORDERED(dynamic)
  ORDERED(dynamic, 5)
  ORDERED(guided)
  ORDERED(auto)
  DOACROSS(static)
  DOACROSS(static, 1)
  DOACROSS(dynamic)
  DOACROSS(dynamic, 4)
  DOACROSS(guided)
  reductions();
  return failures != 0;
}
