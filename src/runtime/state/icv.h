// The internal control variables that a task's data environment holds (OpenMP 5.2, section 2.4).
//
// A block of ICVs is owned by one task and read by the tasks and regions that it starts. Only the owner writes, and only while
// nobody else can read the block: own_icvs() makes a new block otherwise. Blocks live as long as the descriptor of the task that
// owns them.
#pragma once

#include <cstdint>

namespace hearth::rt {

/// nthreads-var as a list: one number per nesting level, the last one for all deeper levels. Never changed,
/// never freed.
struct ThreadsList {
  static constexpr std::int32_t kMost = 16;
  std::int32_t count = 0;
  std::int32_t values[kMost] = {};
};

struct Icvs {
  std::int32_t nthreads = 1;           // nthreads-var, first element
  std::int32_t nthreads_level = 0;     // which element of OMP_NUM_THREADS that was; -1: set by the program
  std::int32_t max_active_levels = 1;  // max-active-levels-var
  std::int32_t thread_limit = INT32_MAX;
  std::int32_t run_sched_kind = 1;  // run-sched-var: omp_sched_t with the monotonic bit
  std::int32_t run_sched_chunk = 0;
  std::int32_t default_device = 0;
  std::int32_t nteams = 0;                     // nteams-var
  std::int32_t teams_thread_limit = 0;         // teams-thread-limit-var
  std::int32_t bind = 0;                       // bind-var, first element: omp_proc_bind_t
  std::int32_t bind_level = 0;                 // which element of OMP_PROC_BIND that was
  bool dynamic = false;                        // dyn-var
  std::uintptr_t default_allocator = 1;        // def-allocator-var: omp_default_mem_alloc
  std::int64_t blocktime_us = -1;              // kmp_set_blocktime
  const ThreadsList* nthreads_list = nullptr;  // which list nthreads_level counts in; null: OMP_NUM_THREADS
  Icvs* retired = nullptr;                     // an older block of the same owner that others may still read
};

}  // namespace hearth::rt
