// Where threads are bound: "unbound", "unbound-wandering", "unbound-nested", "bound", "refused" (the kernel refuses every mask), or "narrowed" (a
// CPU goes away).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { kMostCpus = 8192 };
static int refuse;
static int wander;              // the kernel moves the main thread at each start of a thread
static int sent_to[kMostCpus];  // how often a thread was bound to this CPU alone

static int really_set(pid_t pid, size_t bytes, const cpu_set_t* set) {
  int (*real)(pid_t, size_t, const cpu_set_t*) =
      (int (*)(pid_t, size_t, const cpu_set_t*))dlsym(RTLD_NEXT, "sched_setaffinity");
  return real(pid, bytes, set);
}

// Stands before the C library's: Hearth's calls come here.
int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t* set) {
  if (refuse) {
    errno = EINVAL;
    return -1;
  }
  for (size_t cpu = 0; CPU_COUNT_S(bytes, set) == 1 && cpu < 8 * bytes; ++cpu)
    if (CPU_ISSET_S(cpu, bytes, set)) __atomic_fetch_add(&sent_to[cpu], 1, __ATOMIC_RELAXED);
  return really_set(pid, bytes, set);
}

// Downwards, as the threads of a team begin upwards: one that is counted on from here each time comes to the same CPU.
static void go_to_cpu_below(void) {
  cpu_set_t mine, one;
  CHECK(sched_getaffinity(0, sizeof(mine), &mine) == 0);
  int cpu = sched_getcpu();
  do cpu = (cpu + CPU_SETSIZE - 1) % CPU_SETSIZE;
  while (!CPU_ISSET(cpu, &mine));
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(really_set(0, sizeof(one), &one) == 0 && really_set(0, sizeof(mine), &mine) == 0);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attr, void* (*routine)(void*), void* arg) {
  if (wander) go_to_cpu_below();
  int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attr, routine, arg);
}

static int cpus(void) {
  cpu_set_t set;
  CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
  return CPU_COUNT(&set);
}

// Who is started when every CPU has a thread begins on a CPU that Hearth chooses, and may leave it.
static void begin_in_crowd(int all, int nested) {
  cpu_set_t mine;
  CHECK(sched_getaffinity(0, sizeof(mine), &mine) == 0);
  int least = 2, most = 2;
  if (nested) {  // on its primary thread's share of the CPUs, where that thread goes, too
    least = 1;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(all)
#pragma omp parallel num_threads(2)
    CHECK(cpus() == all && omp_get_place_num() == -1);
  } else {
#pragma omp parallel num_threads(3 * all)
    CHECK(cpus() == all && omp_get_place_num() == -1);
  }
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    CHECK(CPU_ISSET(cpu, &mine) ? sent_to[cpu] >= least && sent_to[cpu] <= most : sent_to[cpu] == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int all = cpus();
  const int nested = strcmp(argv[1], "unbound-nested") == 0;
  wander = strcmp(argv[1], "unbound-wandering") == 0;
  if (nested || wander || strcmp(argv[1], "unbound") == 0) {
    begin_in_crowd(all, nested);
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
