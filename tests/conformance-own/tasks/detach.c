// Detachable tasks: completed by their event, whoever fulfils it and whenever; successors wait for it.
#include <omp.h>
#include <stdio.h>

static int bad;

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  bad = 1;
}

int main(void) {
  for (int round = 0; round < 200; ++round) {
    int order = 0, fulfilled = 0;
#pragma omp parallel
#pragma omp single
    {
      omp_event_handle_t event;
#pragma omp task detach(event) depend(out : order) shared(order)
      order = 1;
#pragma omp task depend(in : order) shared(order, fulfilled)
      {
        int seen;
#pragma omp atomic read
        seen = fulfilled;
        if (seen != 1 || order != 1) fail("a successor ran before the event");
        order = 2;
      }
#pragma omp task shared(fulfilled) firstprivate(event)
      {
#pragma omp atomic write
        fulfilled = 1;
        omp_fulfill_event(event);
      }
#pragma omp taskwait
      if (order != 2) fail("taskwait came back before the successor");

      omp_event_handle_t early;
#pragma omp task detach(early) shared(order)
      {
        omp_fulfill_event(early);
        order = 3;
      }
#pragma omp taskwait
      if (order != 3) fail("an event fulfilled by its own task");
    }
  }
  return bad;
}
