// Start-up, and what the whole process shares.
//
// initialize() runs once: at load, or on the first call into the library if that comes earlier. The fork
// handlers in runtime.cpp leave the child with the calling thread only. Fields of `process` are constant
// after initialize() unless atomic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/settings.h"
#include "runtime/thread.h"

namespace hearth::policy {
class TaskPolicy;
}

namespace hearth::rt {

struct Process {
  std::atomic<std::int32_t> busy_threads{0};  // threads in teams, the program's own included
  std::atomic<bool> initialized{false};
  std::int32_t cpus = 1;           // what this process may use: cpuset and quota
  std::int32_t visible_cpus = 1;   // the cpuset alone (omp_get_num_procs)
  std::int64_t spin_ns = 0;        // how long to spin before sleeping when there is a core for everybody
  std::int32_t task_cutoff = 256;  // own tasks waiting beyond which a new one runs at once; 0: never
  std::size_t stack_size = 0;
  std::atomic<TargetOffload> target_offload{};
  const policy::TaskPolicy* policy = nullptr;
  bool several_locations = false;  // the policy deals tasks to locations, and there are several
  bool task_vicinities = false;    // idle workers may not take every task that is queued
  bool weighs_load = false;        // the policy does, see policy/task_policy.h; and kept tasks are anybody's
  bool shares_kept = false;
  Icvs initial_icvs;
};
extern Process process;

void initialize();

/// sched_yield(), when spinning would take the core from the thread that is waited for.
void sched_yield_quietly();

/// omp_pause_resource: give the calling root thread's workers and all pooled threads back to the system.
/// False inside a region.
bool pause_resources(Thread* self);

}  // namespace hearth::rt
