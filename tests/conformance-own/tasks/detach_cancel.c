// Detachable tasks that a cancellation discards: fulfilling their events afterwards does nothing, above all
// not to the tasks that have been made since.
// env: OMP_CANCELLATION=true
#include <omp.h>
#include <stdio.h>

enum { kTasks = 200, kRounds = 30 };

static omp_event_handle_t events[kTasks];
static int ran[kTasks];
static int failures;

static void fail(const char* what, int got, int wanted) {
#pragma omp critical
  if (failures++ < 10) printf("%s: %d instead of %d\n", what, got, wanted);
}

// The first task cancels the group, the others wait for it: all of them are discarded.
static void discarded_group(void) {
  int first = 0;
#pragma omp taskgroup
  {
#pragma omp task shared(first) depend(out : first)
    {
      first = 1;
#pragma omp cancel taskgroup
    }
    for (int i = 0; i < kTasks; ++i) {
      omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task shared(first) depend(in : first) detach(event) firstprivate(i)
      {
        ran[i] = 1;
        omp_fulfill_event(event);
      }
      events[i] = event;
    }
  }
}

// Detachable tasks that run; while they are open, the events of the discarded ones are fulfilled.
static void tasks_after_it(void) {
  omp_event_handle_t open[kTasks];
  int done[kTasks] = {0}, sum = 0;
#pragma omp taskgroup
  {
    for (int i = 0; i < kTasks; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(done) firstprivate(i)
      {
#pragma omp atomic write
        done[i] = 1;
      }
      open[i] = event;
      if (!ran[i]) omp_fulfill_event(events[i]);
    }
    for (int i = 0; i < kTasks; ++i) omp_fulfill_event(open[i]);
  }
  for (int i = 0; i < kTasks; ++i) sum += done[i];
  if (sum != kTasks) fail("tasks that ran after the discarded ones", sum, kTasks);
}

int main(void) {
  if (!omp_get_cancellation()) fail("cancellation", 0, 1);
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel
#pragma omp single
    {
      for (int i = 0; i < kTasks; ++i) ran[i] = 0;
      discarded_group();
      int some = 0;
      for (int i = 0; i < kTasks; ++i) some += ran[i];
      if (some != 0) fail("discarded tasks that ran", some, 0);
      tasks_after_it();
    }
  }
  return failures != 0;
}
