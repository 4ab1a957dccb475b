// See place_tree.h.
#include "placement/place_tree.h"

#include <algorithm>

namespace hearth::placement {
namespace {

using topology::Placed;

std::uint32_t cpu_numbers(const topology::Machine& machine) { return machine.usable.last() + 1; }

bool one_unit(const Placed& a, const Placed& b, std::size_t level) {
  return std::equal(a.local.begin(), a.local.begin() + static_cast<std::ptrdiff_t>(level) + 1, b.local.begin());
}

}  // namespace

std::size_t PlaceTree::bytes_for(const topology::Machine& machine) {
  // Every place has two inside or is a leaf, so they are fewer than two for each CPU.
  const std::size_t cpus = machine.usable.count();
  return 2 * cpus * sizeof(Place) + cpus * sizeof(std::uint32_t) + cpu_numbers(machine) * sizeof(PlaceId);
}

void PlaceTree::fill(const topology::Machine& machine, std::int32_t locations, topology::Level finest, void* memory) {
  HEARTH_ASSERT(locations >= 1 && locations <= kMaxLocations, "%d locations", locations);
  const std::vector<Placed> order = placed_cpus(machine, machine.usable);
  const auto count = static_cast<std::int32_t>(order.size());
  places_ = static_cast<Place*>(memory);
  cpus_ = reinterpret_cast<std::uint32_t*>(places_ + 2 * order.size());
  leaf_of_cpu_ = reinterpret_cast<PlaceId*>(cpus_ + order.size());
  cpu_numbers_ = cpu_numbers(machine);
  locations_ = locations;
  std::fill_n(leaf_of_cpu_, cpu_numbers_, kNoPlace);
  std::fill_n(of_location_, kMaxLocations, kNoPlace);
  const auto location_at = [&](std::int32_t at) {
    const int where = machine.location_of_cpu(cpus_[at]);
    return where < locations ? where : kUnknown;
  };
  for (std::int32_t i = 0; i < count; ++i) cpus_[i] = order[static_cast<std::size_t>(i)].cpu;

  const auto finish = [&](Place& place) {
    place.location = location_at(place.first_cpu);
    for (std::int32_t i = 1; i < place.cpus && place.location != kUnknown; ++i)
      if (location_at(place.first_cpu + i) != place.location) place.location = kUnknown;
  };
  size_ = 1;
  places_[0] = Place{.cpus = count};
  finish(places_[0]);
  // Breadth first, so that the places inside one are numbered one after the other.
  for (PlaceId p = 0; p < size_; ++p) {
    const Place outer = places_[p];
    const Placed& first = order[static_cast<std::size_t>(outer.first_cpu)];
    const Placed& last = order[static_cast<std::size_t>(outer.first_cpu + outer.cpus - 1)];
    std::size_t level = topology::package_level;
    while (level <= finest && one_unit(first, last, level)) ++level;
    if (outer.location != kUnknown && of_location_[outer.location] == kNoPlace) of_location_[outer.location] = p;
    if (level > finest) {
      for (std::int32_t i = 0; i < outer.cpus; ++i) leaf_of_cpu_[cpus(p)[i]] = p;
      continue;
    }
    places_[p].first_inside = size_;
    for (std::int32_t i = 0; i < outer.cpus;) {
      const Placed& begin = order[static_cast<std::size_t>(outer.first_cpu + i)];
      Place inner{.parent = p, .depth = outer.depth + 1, .first_cpu = outer.first_cpu + i};
      inner.level = static_cast<topology::Level>(level);
      for (; i < outer.cpus && one_unit(begin, order[static_cast<std::size_t>(outer.first_cpu + i)], level); ++i)
        ++inner.cpus;
      finish(inner);
      places_[size_++] = inner;
      ++places_[p].inside;
    }
  }
}

}  // namespace hearth::placement
