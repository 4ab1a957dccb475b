// How much memory the locations have, how much of it is free, and how much of it is in areas. Any thread; reads sysfs at
// each call. On a pretended machine: what its model says, less what is in areas.
#pragma once

#include <cstdint>

#include "memory/homes.h"

namespace hearth::memory {

struct NodeStats {
  std::uint64_t total = 0;     // bytes of the location's node; 0: unknown
  std::uint64_t free = 0;      // nobody uses them; file caches, which the kernel drops first, not counted
  std::uint64_t in_areas = 0;  // of this process: placed there, or moved there as a whole
};

/// False: no such location, or nobody says.
bool node_stats(Location where, NodeStats& stats);

enum class Choice : std::uint8_t {
  most_free,
  least_loaded,  // fewest bytes of areas; of several the nearest
  nearest,       // with more than a sixteenth of its memory free
};

/// A location that holds memory; kUnknown: none has room. `from`: whom it is to be near; kUnknown: the calling thread.
Location select_home(Choice choice, Location from = kUnknown);

}  // namespace hearth::memory
