// The regions of memory that recorded tasks touch.
//
// A recording with allocations (schema 2) has a region for each that is touched; a range lies in the block that its
// address belonged to as its task was made. What no allocator gave out (static data, stacks, files, and all memory in
// recordings of schema 1) has a region for each cluster of neighbouring ranges, and takes part in no distribution if
// the allocations are known.
#pragma once

#include <vector>

#include "replay/recorded.h"
#include "sim/workload/workload.h"

namespace hearth::replay {

/// Sets where each range lies, and cuts it at the region's end. The regions are in the order of their addresses or
/// times, the same for the same recording.
std::vector<sim::Region> find_memory(Recorded& recorded);

}  // namespace hearth::replay
