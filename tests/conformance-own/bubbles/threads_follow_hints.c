// Four nested teams of four say that they will use the data of the next one: the threads go there, and no data moves.
// env: HEARTH_MACHINE=opteron-8347hex4
#include "twist.h"

int main(void) {
  if (!hearth_affinity) return 0;
  omp_set_max_active_levels(2);
  threads = kMostThreads;
  twist(say_as_thread);
  twist(say_as_team);
  return failures != 0;
}
