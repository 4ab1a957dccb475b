// The same for nested teams of one thread, which are no bubbles: alone, and beside teams of four that are kept.
// env: HEARTH_MACHINE=opteron-8347hex4
#include "twist.h"

// Behind the barrier the thread of a team of one is where the data is, whatever the other teams are going to say.
static void say_before_barrier(char* data) {
#pragma omp parallel num_threads(1)
  {
    expect(hearth_affinity(data, kBytes, kWrite, kWhenAll) == 0, "affinity");
#pragma omp barrier
    int home = -9;
    expect(hearth_mem_locate(data, kBytes, &home) == 0 && hearth_location() == home, "there behind the barrier");
  }
}

static void twist_alone(void) {
  threads = 1;
  twist(say_as_thread);
  twist(say_as_team);
  twist(say_before_barrier);
}

int main(void) {
  if (!hearth_affinity) return 0;
  omp_set_max_active_levels(2);
  twist_alone();
  threads = kMostThreads;
  twist(say_as_thread);
  twist_alone();
  return failures != 0;
}
