/* Random programs for a runtime under test: task trees of random shape, dependences, taskgroups,
 * cancellation, taskloops, nested regions, barriers, threads of the program's own, and forks. Every round
 * computes something whose result is known from the seed alone; a wrong one stops the program with the
 * round's seed, which `--round SEED` runs again.
 *
 * Plain OpenMP, for gcc and clang. Run with OMP_CANCELLATION=true, or the cancelling rounds cancel nothing.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Atomic long tasks_run;

static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void fail(const char* what, uint64_t seed) {
  fprintf(stderr, "\nstress: %s came out wrong; again with: --round %llu\n", what, (unsigned long long)seed);
  abort();
}

/* A tree whose shape follows from the seed. The value of a node is mixed from its seed and its children's
 * values. */
static int children_of(uint64_t seed, int depth) { return depth <= 0 ? 0 : (int)(mix(seed) % 5); }

static uint64_t tree_serial(uint64_t seed, int depth) {
  uint64_t sum = seed;
  for (int i = 0, n = children_of(seed, depth); i < n; i++) sum += mix(tree_serial(mix(seed + i), depth - 1));
  return sum;
}

static uint64_t tree_tasks(uint64_t seed, int depth) {
  uint64_t part[5] = {0}, sum = seed;
  const int n = children_of(seed, depth);
  const int group = (seed & 8) != 0;
  for (int i = 0; i < n; i++) {
    const uint64_t child = mix(seed + i);
    uint64_t* out = &part[i];
    if (group) {
#pragma omp taskgroup
      {
#pragma omp task shared(tasks_run) untied if ((child & 64) == 0)
        *out = tree_tasks(child, depth - 1);
      }
    } else {
#pragma omp task shared(tasks_run) final((child & 1023) == 0) mergeable priority(child & 3)
      *out = tree_tasks(child, depth - 1);
    }
  }
#pragma omp taskwait
  tasks_run += n;
  for (int i = 0; i < n; i++) sum += mix(part[i]);
  return sum;
}

/* A node has two children on average: some 2^depth tasks, small trees beside one in four that fills deques and slabs. */
static void round_tree(uint64_t seed) {
  const int depth = mix(seed) % 4 == 0 ? 12 + (int)(seed % 4) : 3 + (int)(seed % 6);
  uint64_t got = 0;
#pragma omp parallel num_threads(2 + seed % 5)
#pragma omp single nowait
  got = tree_tasks(seed, depth);
  if (got != tree_serial(seed, depth)) fail("a task tree", seed);
}

/* Dependences: a grid where each cell needs its upper and left neighbours; row and column 0 hold the seed. */
static void round_grid(uint64_t seed) {
  enum { kMax = 24 };
  const int n = 2 + (int)(seed % (kMax - 2));
  uint64_t grid[kMax][kMax], want[kMax][kMax];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      grid[i][j] = i == 0 || j == 0 ? seed : 0;
      want[i][j] = i == 0 || j == 0 ? seed : mix(want[i - 1][j]) + want[i][j - 1];
    }
#pragma omp parallel num_threads(1 + seed % 6)
#pragma omp master
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1]) depend(inout : grid[i][j])
      grid[i][j] = mix(grid[i - 1][j]) + grid[i][j - 1];
      if ((mix(seed + i * n + j) & 63) == 0) {
#pragma omp taskwait
      }
    }
  tasks_run += (n - 1) * (n - 1);
  for (int i = 0; i < n; i++)
    if (memcmp(grid[i], want[i], sizeof(uint64_t) * n) != 0) fail("a grid of dependences", seed);
}

static void round_chain(uint64_t seed) {
  const int n = 1000 + (int)(seed % 4000);
  uint64_t value = seed, want = seed, readers[4] = {0};
  for (int i = 0; i < n; i++) want = mix(want + i);
#pragma omp parallel num_threads(1 + seed % 4)
#pragma omp single
  for (int i = 0; i < n; i++) {
#pragma omp task depend(inout : value) firstprivate(i)
    value = mix(value + i);
    if ((i & 7) == 3) {
#pragma omp task depend(in : value) depend(inout : readers[i & 3]) firstprivate(i)
      readers[i & 3] += value != 0;
    }
  }
  tasks_run += n;
  if (value != want) fail("a chain of dependences", seed);
}

/* Cancellation: how many tasks ran is not fixed, but nothing may hang and sums stay within bounds. */
static void round_cancel(uint64_t seed) {
  _Atomic long ran = 0;
  const int n = 1 + (int)(seed % 2000), at = (int)(mix(seed) % 2000);
#pragma omp parallel num_threads(1 + seed % 6)
  {
#pragma omp single
    {
#pragma omp taskgroup
      for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
        {
          ran++;
          if (i == at) {
#pragma omp cancel taskgroup
          }
        }
      }
    }
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < n; i++) {
      ran++;
#pragma omp cancel for if (i == at)
    }
#pragma omp cancel parallel if ((seed & 16) && omp_get_thread_num() == (int)(seed % 3))
#pragma omp barrier
    ran++;
  }
  tasks_run += n;
  if (ran > 2L * n + 8) fail("a cancelled region", seed);
}

static void round_loops(uint64_t seed) {
  const long n = 1 + (long)(seed % 5000), chunk = 1 + (long)(mix(seed) % 40);
  long sum = 0, hits = 0;
#pragma omp parallel num_threads(1 + seed % 8) reduction(+ : sum, hits)
  {
#pragma omp for schedule(dynamic) nowait
    for (long i = 0; i < n; i++) sum += i;
#pragma omp for schedule(guided, 4)
    for (long i = 0; i < n; i++) sum += i;
#pragma omp for schedule(static, 7) nowait
    for (long i = 0; i < n; i++) sum += i;
#pragma omp single nowait
#pragma omp taskloop grainsize(chunk) nogroup
    for (long i = 0; i < n; i++) tasks_run++;
#pragma omp sections
    {
#pragma omp section
      hits++;
#pragma omp section
      hits++;
    }
#pragma omp for ordered schedule(dynamic, 2)
    for (long i = 0; i < 64; i++) {
#pragma omp ordered
      hits++;
    }
  }
  if (sum != 3 * (n * (n - 1) / 2) || hits != 66) fail("worksharing", seed);
}

static void round_nested(uint64_t seed) {
  _Atomic long count = 0;
  const int outer = 1 + (int)(seed % 4), inner = 1 + (int)(mix(seed) % 4);
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(outer)
  {
#pragma omp parallel num_threads(inner)
    {
#pragma omp task
      count++;
#pragma omp barrier
      count++;
    }
  }
  if (count > 2L * outer * inner || count < 2) fail("nested regions", seed);
}

static void* own_thread(void* arg) {
  const uint64_t seed = (uint64_t)(uintptr_t)arg;
  round_tree(seed);
  round_loops(mix(seed));
  return NULL;
}

static void round_threads(uint64_t seed) {
  pthread_t thread[3];
  const int n = 1 + (int)(seed % 3);
  for (int i = 0; i < n; i++) pthread_create(&thread[i], NULL, own_thread, (void*)(uintptr_t)mix(seed + i));
  for (int i = 0; i < n; i++) pthread_join(thread[i], NULL);
}

static void round_fork(uint64_t seed) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    round_tree(seed);
    round_loops(mix(seed));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("a forked child", seed);
}

static void one_round(uint64_t seed) {
  switch (mix(seed) % 32) {
    case 0: round_fork(seed); break;
    case 1:
    case 2: round_threads(seed); break;
    case 3:
    case 4:
    case 5: round_nested(seed); break;
    case 6:
    case 7:
    case 8:
    case 9: round_loops(seed); break;
    case 10:
    case 11:
    case 12:
    case 13: round_cancel(seed); break;
    case 14:
    case 15:
    case 16: round_chain(seed); break;
    case 17:
    case 18:
    case 19:
    case 20: round_grid(seed); break;
    default: round_tree(seed); break;
  }
}

int main(int argc, char** argv) {
  double seconds = 10;
  uint64_t seed = 1;
  long most = 200000000;
  for (int i = 1; i < argc; i++) {
    if (i + 1 < argc && strcmp(argv[i], "--seconds") == 0)
      seconds = atof(argv[++i]);
    else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
      seed = strtoull(argv[++i], NULL, 0);
    else if (i + 1 < argc && strcmp(argv[i], "--tasks") == 0)
      most = atol(argv[++i]);
    else if (i + 1 < argc && strcmp(argv[i], "--round") == 0) {
      one_round(strtoull(argv[++i], NULL, 0));
      puts("the round came out right");
      return 0;
    } else {
      fprintf(stderr, "usage: stress [--seconds S] [--seed N] [--tasks N] [--round SEED]\n");
      return 2;
    }
  }
  const double start = omp_get_wtime();
  double shown = start;
  long rounds = 0;
  while (omp_get_wtime() - start < seconds && tasks_run < most) {
    one_round(mix(seed + (uint64_t)rounds++));
    const double now = omp_get_wtime();
    if (isatty(STDERR_FILENO) && now - shown > 0.5) {
      fprintf(stderr, "\rstress: %.0f of %.0f s, %ld rounds, %ld tasks ", now - start, seconds, rounds,
              (long)tasks_run);
      shown = now;
    }
  }
  printf("stress: %ld rounds, %ld tasks in %.1f s, every result right\n", rounds, (long)tasks_run,
         omp_get_wtime() - start);
  return 0;
}
