// Homes: the locations of this machine that can hold our memory, and what the kernel calls them.
//
// Worked out from topology::machine() at the first call, then constant; any thread may read. Under a
// pretended machine (HEARTH_MACHINE), and on one whose locations are home caches, the kernel knows nothing of
// the places: `kernel_places` is false, no page call is made, and the facts are those that Hearth computes
// and notes itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/distribution.h"

namespace hearth::memory {

using placement::kUnknown;
using placement::Location;

inline constexpr std::size_t kPage =
    4096;  // the unit of everything the kernel is asked; page_size() is checked against it
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
inline constexpr unsigned kMostNodes = 1024;  // the kernel's largest CONFIG_NODES_SHIFT

struct MemoryHomes {
  std::int32_t locations = 0;                         // of the machine, at most placement::kMaxLocations
  placement::Homes homes;                             // those that hold memory
  placement::Shape equal;                             // one slot for each of them
  std::size_t unit = kPage;                           // of fine distribution: a page, or a home cache's line
  bool kernel_places = false;                         // mbind and move_pages mean something
  std::uint16_t node[placement::kMaxLocations] = {};  // kernel number of a location's node
  Location nearest[placement::kMaxLocations] = {};    // a location's nearest home; itself if it holds memory
  std::int8_t location_of_node[kMostNodes];           // kUnknown: no location of ours

  /// Whether there is anything to distribute over, or to ask about. Where not, nobody needs to call this
  /// room.
  bool several() const { return homes.count > 1; }
  Location location_of(int kernel_node) const {
    return kernel_node >= 0 && static_cast<unsigned>(kernel_node) < kMostNodes ? location_of_node[kernel_node]
                                                                               : kUnknown;
  }
};

const MemoryHomes& memory_homes();

/// The location of the calling thread, or kUnknown. Where the kernel knows (a real machine) by the CPU it is
/// on just now; on a pretended machine only the runtime knows where a thread is supposed to be, and says so
/// through set_locator().
Location location_here();
void set_locator(Location (*locator)());

}  // namespace hearth::memory
