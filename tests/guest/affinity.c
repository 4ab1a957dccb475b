// Where threads are bound: "unbound", "bound", "refused" (the kernel refuses every mask), or "narrowed" (a
// CPU goes away).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>

#include "check.h"

static int refuse;

// Stands before the C library's: Hearth's calls come here.
int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t* set) {
  if (refuse) {
    errno = EINVAL;
    return -1;
  }
  int (*real)(pid_t, size_t, const cpu_set_t*) =
      (int (*)(pid_t, size_t, const cpu_set_t*))dlsym(RTLD_NEXT, "sched_setaffinity");
  return real(pid, bytes, set);
}

static int cpus(void) {
  cpu_set_t set;
  CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
  return CPU_COUNT(&set);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int all = cpus();
  if (strcmp(argv[1], "unbound") == 0) {
#pragma omp parallel num_threads(4)
    CHECK(cpus() == all && omp_get_place_num() == -1);
    CHECK(omp_get_num_places() == 0 && omp_get_proc_bind() == omp_proc_bind_false);
    return 0;
  }
  refuse = strcmp(argv[1], "refused") == 0;
  const int places = omp_get_num_places();
  CHECK(places == all);
  CHECK(omp_get_place_num() == 0);  // the main thread is bound before its first region
  if (!refuse) CHECK(cpus() == 1);
  for (int i = 0; i < 10; ++i) {
    if (strcmp(argv[1], "narrowed") == 0) refuse = i >= 5;
#pragma omp parallel num_threads(1 + places + i % 3) proc_bind(close)
    {
      const int place = omp_get_place_num();
      CHECK(place >= 0 && place < places);
      CHECK(omp_get_thread_num() >= places || place == omp_get_thread_num() ||
            omp_get_num_threads() > places);
      CHECK(omp_get_place_num_procs(place) == 1);
      int cpu = -1;
      omp_get_place_proc_ids(place, &cpu);
      cpu_set_t set;
      CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
      if (!refuse) CHECK(CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set));
    }
#pragma omp parallel num_threads(places) proc_bind(primary)
    CHECK(omp_get_place_num() == 0);
#pragma omp parallel num_threads(places) proc_bind(spread)
    {
      CHECK(omp_get_place_num() == omp_get_thread_num());
      CHECK(omp_get_partition_num_places() == 1);
    }
  }
  return 0;
}
