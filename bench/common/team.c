// The quiet moment, and the name of the runtime that serves this process. Main thread only, outside parallel
// regions.
//
// The calibration loop takes the same number of cycles each time, so when it takes longer than its minimum,
// something else had the core (another process, the hypervisor, a lower clock). All threads of the team run
// it at once, since a sample suffers when either core is disturbed; and they must begin together, since two
// threads that the kernel has put on one core take turns, each at full speed.
#define _GNU_SOURCE
#include "team.h"

#include <dlfcn.h>
#include <omp.h>
#include <sched.h>

#include "bench.h"

static const double kQuietTolerance = 1.06;  // frequency drift stays below this, a lost time slice does not

static double spin_minimum_ns = 0;

void bench_set_spin_minimum(double ns) { spin_minimum_ns = ns; }

// Parts threads that share a core, by moving each to a CPU of its own and giving its mask back. The kernel
// leaves such pairs together for a long time when they wait by yielding, and in a virtual machine, where it
// takes an idle CPU for one that the host has taken away; all runtimes suffer alike, but not in the same
// rounds. Threads that the runtime has bound to one CPU stay there.
static void spread_team(void) {
#pragma omp parallel
  {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 1) {
      int skip = omp_get_thread_num() % CPU_COUNT(&mask);
      int cpu = 0;
      while (!CPU_ISSET(cpu, &mask) || skip-- > 0) ++cpu;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      if (sched_setaffinity(0, sizeof one, &one) == 0) sched_setaffinity(0, sizeof mask, &mask);
    }
  }
}

bool bench_quiet_wait(uint64_t max_wait_ns) {
  const uint64_t give_up = bench_now_ns() + max_wait_ns;
  do {
    double slowest = 0;
    double fastest = 1e18;
    double first_start = 1e18;
    double last_start = 0;
#pragma omp parallel reduction(max : slowest, last_start) reduction(min : fastest, first_start)
    {
#pragma omp barrier
      const double start = (double)(bench_now_ns() - (give_up - max_wait_ns));
      const double ns = bench_spin_once();
      slowest = fastest = ns;
      first_start = last_start = start;
    }
    if (spin_minimum_ns == 0 || fastest < spin_minimum_ns) spin_minimum_ns = fastest;
    const bool undisturbed = slowest <= spin_minimum_ns * kQuietTolerance;
    const bool side_by_side = last_start - first_start < spin_minimum_ns / 2;
    if (undisturbed && side_by_side) return true;
    if (!side_by_side) spread_team();
  } while (bench_now_ns() < give_up);
  return false;
}

const char* bench_runtime_file(void) {
  Dl_info info;
  void* entry = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  if (!entry || !dladdr(entry, &info) || !info.dli_fname)
    bench_fail("no library answers omp_get_max_threads");
  return info.dli_fname;
}
