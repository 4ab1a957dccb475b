// Dependences among siblings: chains, readers between writers, mutual exclusion, taskwait with depend,
// undeferred tasks.
#include <omp.h>
#include <stdio.h>

#define N 500
#define ROUNDS 40

static int x[N];
static int bad;

static void fail(const char* what) {
#pragma omp atomic
  bad++;
  fprintf(stderr, "%s\n", what);
}

static void wavefront(void) {
  for (int i = 0; i < N; ++i) x[i] = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 1; round <= ROUNDS; ++round)
    for (int i = 0; i < N; ++i) {
      if (i == 0) {
#pragma omp task depend(inout : x[0])
        x[0]++;
      } else {
#pragma omp task depend(in : x[i - 1]) depend(inout : x[i])
        {
          if (x[i - 1] != round || x[i] != round - 1) fail("a task ran before its predecessors");
          x[i]++;
        }
      }
    }
  if (x[N - 1] != ROUNDS) fail("tasks are missing");
}

static void readers(void) {
  int a = 0, seen = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 1; round <= ROUNDS; ++round) {
#pragma omp task depend(out : a) shared(a)
    a = round;
    for (int k = 0; k < 20; ++k) {
#pragma omp task depend(in : a) shared(a, seen)
      {
        if (a != round) fail("a reader saw another writer's value");
#pragma omp atomic
        seen++;
      }
    }
  }
  if (seen != 20 * ROUNDS) fail("readers are missing");
}

static void exclusion(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int k = 0; k < 300; ++k) {
#pragma omp task depend(mutexinoutset : sum) shared(sum)
      sum++;
    }
#pragma omp taskwait depend(in : sum)
    if (sum != 300) fail("taskwait depend came back early");
#pragma omp task depend(out : sum) shared(sum)
    sum = 7;
#pragma omp task if (0) depend(in : sum) shared(sum)
    if (sum != 7) fail("an undeferred task did not wait for its dependence");
  }
}

// A generator that names ever new addresses: the table must forget what has finished.
static void many_addresses(void) {
  static char bytes[200000];
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 200000; ++i) {
#pragma omp task depend(inout : bytes[i]) shared(done)
    {
#pragma omp atomic
      done++;
    }
  }
  if (done != 200000) fail("tasks are missing");
}

// A long chain whose head is held back: releasing it must not recurse.
static void chain(void) {
  int go = 0;
  long links = 0;
#pragma omp parallel
#pragma omp single
  {
    if (omp_get_num_threads() == 1) go = 1;
#pragma omp task depend(out : links) shared(go)
    for (int seen = 0; !seen;) {
#pragma omp atomic read
      seen = go;
    }
    for (int i = 0; i < 300000; ++i) {
#pragma omp task depend(inout : links) shared(links)
      links++;
    }
#pragma omp atomic write
    go = 1;
#pragma omp taskwait
  }
  if (links != 300000) fail("links of the chain are missing");
}

int main(void) {
  wavefront();
  readers();
  exclusion();
  many_addresses();
  chain();
  return bad != 0;
}
