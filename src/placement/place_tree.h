// PlaceTree: the CPUs that may be used, as places inside places: machine, packages, nodes, last-level caches, cores, hardware
// threads. What bubbles are distributed over. A place is a set of CPUs, as in OpenMP.
//
// A value in the caller's memory, filled in once by one thread and constant afterwards; nothing here allocates. A level that
// cuts nothing is left out, as the one node of a package; so every place but a leaf has at least two places inside. Memory
// without CPUs is no place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/need.h"
#include "topology/levels.h"

namespace hearth::placement {

using PlaceId = std::int32_t;  // an index; the whole machine is 0
inline constexpr PlaceId kWholeMachine = 0;
inline constexpr PlaceId kNoPlace = -1;

struct Place {
  PlaceId parent = kNoPlace;
  PlaceId first_inside = kNoPlace;  // the places inside are numbered one after the other
  std::int32_t inside = 0;          // how many; 0: a leaf
  std::int32_t depth = 0;           // of the machine 0
  std::int32_t first_cpu = 0;       // of PlaceTree::cpus(), whose order keeps the CPUs of a place together
  std::int32_t cpus = 0;
  Location location = kUnknown;                     // that all its CPUs have; kUnknown: several
  topology::Level level = topology::package_level;  // of the machine as a whole: the same, and depth 0
};

class PlaceTree {
 public:
  /// How much memory a tree of this machine takes, in bytes.
  static std::size_t bytes_for(const topology::Machine& machine);
  /// `memory`: bytes_for() of it, for 8-byte words, kept as long as the tree. Leaves are of the level `finest`: hardware
  /// threads, cores, last-level caches or nodes. `locations`: the first so many of the machine's count.
  void fill(const topology::Machine& machine, std::int32_t locations, topology::Level finest, void* memory);

  std::int32_t size() const { return size_; }
  const Place& operator[](PlaceId place) const { return places_[place]; }
  bool is_leaf(PlaceId place) const { return places_[place].inside == 0; }
  std::int32_t locations() const { return locations_; }
  /// The CPUs of a place as the kernel numbers them: `places[p].cpus` of them.
  const std::uint32_t* cpus(PlaceId place) const { return cpus_ + places_[place].first_cpu; }
  /// The leaf of a CPU (the kernel's number); kNoPlace: not one that we may use.
  PlaceId leaf_of_cpu(std::uint32_t cpu) const { return cpu < cpu_numbers_ ? leaf_of_cpu_[cpu] : kNoPlace; }
  /// The largest place all of whose CPUs are at the location; kNoPlace: memory without CPUs.
  PlaceId place_of_location(Location where) const {
    return where >= 0 && where < locations_ ? of_location_[where] : kNoPlace;
  }

  bool holds(PlaceId outer, PlaceId inner) const {
    const std::int32_t at = places_[inner].first_cpu - places_[outer].first_cpu;
    return places_[outer].depth <= places_[inner].depth && at >= 0 && at < places_[outer].cpus;
  }
  /// The smallest place that holds both.
  PlaceId common(PlaceId one, PlaceId other) const {
    while (!holds(one, other)) one = places_[one].parent;
    return one;
  }
  /// The place directly inside `outer` that holds `inner`, which is a smaller one.
  PlaceId inside_holding(PlaceId outer, PlaceId inner) const {
    while (places_[inner].parent != outer) inner = places_[inner].parent;
    return inner;
  }
  /// How many levels up from the deeper of the two until they are one: 0 for the same place.
  std::int32_t levels_apart(PlaceId one, PlaceId other) const {
    const std::int32_t depth = places_[common(one, other)].depth;
    const std::int32_t deeper = places_[one].depth > places_[other].depth ? places_[one].depth : places_[other].depth;
    return deeper - depth;
  }

 private:
  Place* places_ = nullptr;
  std::uint32_t* cpus_ = nullptr;
  PlaceId* leaf_of_cpu_ = nullptr;
  std::uint32_t cpu_numbers_ = 0;
  std::int32_t size_ = 0;
  std::int32_t locations_ = 0;
  PlaceId of_location_[kMaxLocations];
};

}  // namespace hearth::placement
