// Homes: the locations of this machine that can hold our memory, and what the kernel calls them.
//
// Worked out from topology::machine() at the first call, then constant; any thread may read. Under a
// pretended machine (HEARTH_MACHINE), and on one whose locations are home caches, the kernel knows nothing of
// the places: `kernel_places` is false, no page call is made, and the facts are those that Hearth computes
// and notes itself.
//
// Where the locations are last-level caches (HEARTH_LOCATION=llc) the kernel knows no more than their nodes.
// Which of a node's locations a page belongs to is then what Hearth decided and remembers.
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
  std::int32_t locations = 0;  // of the machine, at most placement::kMaxLocations
  placement::Homes homes;      // those that hold memory
  placement::Shape equal;      // one slot for each of them
  placement::Shape rounds;     // the same for fine: as the kernel's interleave goes round the nodes
  std::size_t unit = kPage;    // of fine distribution: a page, or a home cache's line
  bool kernel_places = false;  // mbind and move_pages mean something
  bool divided = false;        // some node has several locations
  std::uint16_t node[placement::kMaxLocations] = {};  // kernel number of a location's node
  Location nearest[placement::kMaxLocations] = {};    // a location's nearest home; itself if it holds memory
  std::int8_t location_of_node[kMostNodes];           // the first one there; kUnknown: no location of ours

  /// Whether there is anything to distribute over, or to ask about. Where not, nobody needs to call this
  /// room.
  bool several() const { return homes.count > 1; }
  bool is_at(Location location, int kernel_node) const { return node[location] == kernel_node; }
  /// Which location a page of that node belongs to: the one that it belonged to `before`, if that is there;
  /// else the node's locations take turns.
  Location location_of(int kernel_node, Location before = kUnknown, std::uint32_t turn = 0) const {
    if (kernel_node < 0 || static_cast<unsigned>(kernel_node) >= kMostNodes) return kUnknown;
    const Location first = location_of_node[kernel_node];
    if (!divided || first == kUnknown) return first;
    if (before >= 0 && before < locations && is_at(before, kernel_node)) return before;
    Location end = first + 1;
    while (end < locations && is_at(end, kernel_node)) ++end;
    return first + static_cast<Location>(turn % static_cast<std::uint32_t>(end - first));
  }
};

const MemoryHomes& memory_homes();

/// The location of the calling thread, or kUnknown. Where the kernel knows (a real machine) by the CPU it is
/// on just now; on a pretended machine only the runtime knows where a thread is supposed to be, and says so
/// through set_locator().
Location location_here();
void set_locator(Location (*locator)());

}  // namespace hearth::memory
