// Parallel regions: fork, the implicit tasks, join.
//
// Called by the primary thread only. begin_region() publishes the region and makes the caller member 0 of the
// new team; the caller then runs its own share and calls end_region(), which waits for all members and all
// their tasks.
#pragma once

#include <cstdint>

#include "runtime/state/region.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// Number of threads that a parallel construct gets here (OpenMP 5.2, algorithm 10.1).
std::int32_t decide_team_size(Thread* self, std::int32_t requested);
Team* begin_region(Thread* self, const Region& region);
void end_region(Thread* self);
/// Fork, run, join.
void parallel(Thread* self, const Region& region);

}  // namespace hearth::rt
