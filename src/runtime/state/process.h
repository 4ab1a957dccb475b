// Facts about this process that every room reads.
//
// Written by startup.cpp before `initialized` is set, constant from then on unless atomic. Any thread reads them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/settings/settings.h"
#include "runtime/state/icv.h"

namespace hearth::policy {
class TaskPolicy;
}

namespace hearth::rt {

struct Process {
  std::atomic<bool> initialized{false};
  std::int32_t visible_cpus = 1;   // the cpuset alone (omp_get_num_procs)
  std::int32_t task_cutoff = 256;  // own tasks waiting beyond which a new one runs at once; 0: never
  std::size_t stack_size = 0;
  std::atomic<TargetOffload> target_offload{};
  const policy::TaskPolicy* policy = nullptr;
  bool several_locations = false;  // the policy deals tasks to locations, and there are several
  bool seats_teams = false;        // threads have seats: bubbles/seats.h
  bool measures_load = false;      // and how long they wait is measured: state/waiting.h
  bool task_vicinities = false;    // idle workers may not take every task that is queued
  bool weighs_load = false;  // the policy does, see policy/task_policy.h; anybody may steal from own queues
  bool shares_own_queues = false;
  bool infers = false;  // tasks that say nothing of their data are looked at: locality/silent.h
  bool has_budget = false;  // of threads, shared with other processes: team/budget.h
  Icvs initial_icvs;
};
extern Process process;

/// Bytes of the stack that a new thread gets: what the user asked for, else what the C library gives.
std::size_t stack_size_of_threads();

}  // namespace hearth::rt
