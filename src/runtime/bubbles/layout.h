// Where new memory had better be made, by how busy the machine is: HEARTH_MEM_BY_LOAD (Broquedis et al. 2009, table 1).
//
// Any thread; takes the lock of the live tree.
#pragma once

#include "placement/need.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// The locations over which memory of the caller's team is to be spread, in turn. None: it is to be near the caller.
struct Spread {
  std::int32_t count = 0;
  placement::Location at[placement::kMaxLocations];
};

/// While seats are few (the locations of half of the machine have none) and fill the locations they are at: over these and
/// their neighbours. Where hints say what every thread uses, and bandwidths are known: by the time of a pass.
Spread spread_by_load(Thread* self);

}  // namespace hearth::rt
