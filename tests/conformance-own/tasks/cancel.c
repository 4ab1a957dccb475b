// Cancellation: no task of a cancelled taskgroup starts afterwards on the same thread, a cancelled region
// ends at once.
// env: OMP_CANCELLATION=true
#include <stdio.h>

static int bad;

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  bad = 1;
}

int main(void) {
  for (int round = 0; round < 100; ++round) {
    int started = 0, after = 0;
#pragma omp parallel
    {
#pragma omp single
#pragma omp taskgroup
      {
#pragma omp task if (0)
        {
#pragma omp cancel taskgroup
        }
        for (int k = 0; k < 100; ++k) {
#pragma omp task shared(started)
          {
#pragma omp atomic
            started++;
          }
        }
      }
#pragma omp barrier
#pragma omp cancel parallel
#pragma omp atomic
      after++;
    }
    if (started != 0) fail("a task of a cancelled taskgroup ran");
    if (after != 0) fail("a thread went on in a cancelled region");
    // The next region is whole again.
    int members = 0, barriers = 0;
#pragma omp parallel
    {
#pragma omp atomic
      members++;
#pragma omp barrier
      int seen;
#pragma omp atomic read
      seen = members;
#pragma omp barrier
#pragma omp atomic
      barriers += seen;
    }
    if (barriers != members * members) fail("a barrier after a cancelled region let a thread through");
  }
  return bad;
}
