// Parallel regions: fork, the implicit tasks, join.
//
// Called by the primary thread only. begin_region() publishes the region and makes the caller member 0 of the
// new team; the caller then runs its own share and calls end_region(), which waits for all members and all
// their tasks.
#pragma once

#include <cstdint>

#include "runtime/state/thread.h"

namespace hearth::rt {

struct Region {
  void* function = nullptr;
  void* data = nullptr;   // gomp
  void** argv = nullptr;  // kmpc
  std::int32_t argc = 0;
  bool is_kmp = false;
  bool is_league = false;        // its threads are to run the teams of a league; no tool hears of it
  std::int32_t num_threads = 0;  // 0: from the ICVs
  std::int32_t proc_bind = 0;    // 0: from the ICVs
  const ThreadsList* threads_list = nullptr;  // num_threads clause with a list: for the regions inside
  Taskgroup* group = nullptr;                 // region-wide taskgroup (GOMP_parallel_reductions)
};

/// Number of threads that a parallel construct gets here (OpenMP 5.2, algorithm 10.1).
std::int32_t decide_team_size(Thread* self, std::int32_t requested);
Team* begin_region(Thread* self, const Region& region);
void end_region(Thread* self);
/// The caller's own share of the current region.
void run_share(Thread* self, const ForkLine& line);
/// Fork, run, join.
void parallel(Thread* self, const Region& region);

/// Call an outlined function of clang's with any number of arguments (microtask_*.S).
extern "C" void hearth_invoke_microtask(void* function, std::int32_t* gtid, std::int32_t* btid,
                                        std::int32_t argc, void** argv, void** exit_frame)
    __attribute__((visibility("hidden")));

/// A worker thread's whole life in a team: from hire to dismissal.
void serve_team(Thread* self, Member* member);

}  // namespace hearth::rt
