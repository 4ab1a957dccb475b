// A target region with nowait outside of all parallel regions, and in one of a single thread: the program goes on
// beside it. It is over after a taskwait, a taskgroup, a barrier, and when its thread or the program ends.
//
// flags: -pthread
// also-on: opteron-6172x4
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int wrong, ran_at_exit, ran_in_thread;

#define EXPECT(x)                                             \
  do {                                                        \
    if (!(x)) {                                               \
      wrong = 1;                                              \
      fprintf(stderr, "line %d: not so: %s\n", __LINE__, #x); \
    }                                                         \
  } while (0)

static void waits(void) {
  int go = 0, seen = -1, late = 0;
#pragma omp target nowait map(tofrom : go, seen)
  seen = go;
  go = 1;
#pragma omp taskwait
  EXPECT(seen == 1);

  seen = -1;
  int copy = 5;
#pragma omp taskgroup
  {
#pragma omp target nowait map(tofrom : go, seen) firstprivate(copy)
    seen = go + copy;
    copy = 0;
    go = 2;
  }
  EXPECT(seen == 7);

#pragma omp target nowait map(tofrom : late)
  late = 1;
#pragma omp barrier
  EXPECT(late == 1);
}

static void dependences(void) {
  int x = 0, order = 0, after = -1;
#pragma omp target nowait depend(out : x) map(tofrom : x, order)
  {
    x = 10;
    ++order;
  }
#pragma omp target nowait depend(inout : x) map(tofrom : x, order)
  {
    x += order;
    ++order;
  }
#pragma omp task depend(in : x) shared(x, after)
  after = x;
#pragma omp taskwait
  EXPECT(order == 2 && x == 11 && after == 11);
}

// A region that follows what is fulfilled only after its construct.
static void event(void) {
  omp_event_handle_t handle;
  int x = 0;
#pragma omp task detach(handle) depend(out : x)
  {
  }
#pragma omp target nowait depend(inout : x) map(tofrom : x)
  x = 3;
  omp_fulfill_event(handle);
#pragma omp taskwait
  EXPECT(x == 3);
}

static void in_regions(void) {
  int go = 0, seen = -1, done = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp target nowait map(tofrom : go, seen)
    seen = go;
    go = 1;
  }
  EXPECT(seen == 1);
#pragma omp target nowait map(tofrom : done)
#pragma omp atomic
  ++done;
#pragma omp parallel
#pragma omp single
#pragma omp target nowait map(tofrom : done)
#pragma omp atomic
  ++done;
#pragma omp taskwait
  EXPECT(done == 2);
  // Final tasks have no deferred children.
#pragma omp task final(1) shared(done)
  {
#pragma omp target nowait map(tofrom : done)
    done = 7;
    EXPECT(done == 7);
  }
  for (int i = 0; i < 1000; ++i) {
#pragma omp target nowait map(tofrom : done)
#pragma omp atomic
    ++done;
  }
#pragma omp taskwait
  EXPECT(done == 1007);
}

static void* thread(void* unused) {
#pragma omp target nowait map(tofrom : ran_in_thread)
  ran_in_thread = 1;
  return unused;
}

static void at_exit(void) {
  if (ran_at_exit != 1) {
    fprintf(stderr, "not run before the end\n");
    _exit(1);
  }
}

int main(void) {
  atexit(at_exit);
  waits();
  dependences();
  event();
  in_regions();
  pthread_t other;
  pthread_create(&other, NULL, thread, NULL);
  pthread_join(other, NULL);
  EXPECT(ran_in_thread);
#pragma omp target nowait map(tofrom : ran_at_exit)
  ran_at_exit = 1;
  return wrong;
}
