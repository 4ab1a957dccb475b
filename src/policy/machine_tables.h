// MachineTables: a machine as policies see it, worked out from what topology knows. The runtime and the
// simulator make theirs here, so that both show their policies the same numbers.
//
// A value without memory of its own; filled in once by one thread, constant afterwards. Not to be copied or
// moved: its views point into it.
#pragma once

#include "policy/task_policy.h"
#include "topology/machine.h"

namespace hearth::policy {

/// What users choose.
struct Choices {
  Significance significance = Significance::gain;
  Threshold threshold = Threshold::hops;
  std::int32_t vicinity = 0;  // locations of a group: 1, 4, 8 or 16; 0: all are one
  std::int32_t slowdown = 1;
};

struct MachineTables {
  MachineView view;
  /// For footprints that the program states itself: the size test of Significance::paper does not apply.
  MachineView stated;

  MachineTables() = default;
  MachineTables(const MachineTables&) = delete;
  MachineTables& operator=(const MachineTables&) = delete;

  /// `locations`: the first so many count, at most placement::kMaxLocations.
  void fill(const topology::Machine& machine, std::int32_t locations, const Choices& choices);
  /// The locations by rising distance from `from`, itself first.
  const Location* near(Location from) const { return near_ + from * view.locations; }

 private:
  std::uint32_t distance_[placement::kMaxLocations * placement::kMaxLocations];
  std::uint32_t hops_[placement::kMaxLocations * placement::kMaxLocations];
  float price_[placement::kMaxLocations * placement::kMaxLocations];
  std::uint32_t cores_[placement::kMaxLocations];
  std::uint64_t cache_per_core_[placement::kMaxLocations];
  std::uint64_t l1_bytes_[placement::kMaxLocations];
  std::uint16_t vicinity_[placement::kMaxLocations];
  Location near_[placement::kMaxLocations * placement::kMaxLocations];
};

/// The group of each of the first `locations`: on a mesh blocks of 1, 2 x 2, 4 x 2 (wide x high) or 4 x 4
/// tiles, elsewhere so many consecutive locations; 0: all are one group.
void group_vicinities(const topology::Machine& machine, std::int32_t locations, std::int32_t size,
                      std::uint16_t* vicinity);

}  // namespace hearth::policy
