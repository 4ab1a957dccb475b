#include "policy/machine_tables.h"

#include <algorithm>

namespace hearth::policy {
namespace {

// The rank of each distance among those that the row has, its own being 0.
void rank_row(const std::uint32_t* distance, std::uint32_t* hops, std::int32_t count) {
  std::uint32_t values[placement::kMaxLocations];
  std::copy_n(distance, count, values);
  std::sort(values, values + count);
  const std::uint32_t* end = std::unique(values, values + count);
  for (std::int32_t i = 0; i < count; ++i)
    hops[i] =
        static_cast<std::uint32_t>(std::lower_bound(values, values + (end - values), distance[i]) - values);
}

// The least that is known of the location's caches; 0: nothing is.
template <class Bytes>
std::uint64_t least_of_caches(const topology::Machine& machine, const topology::Location& location,
                              Bytes bytes) {
  std::uint64_t least = 0;
  for (const topology::CacheDomain& llc : machine.llcs) {
    if (!llc.cpus.intersects(location.cpus)) continue;
    const std::uint64_t here = bytes(llc);
    if (here != 0 && (least == 0 || here < least)) least = here;
  }
  return least;
}

}  // namespace

void group_vicinities(const topology::Machine& machine, std::int32_t locations, std::int32_t size,
                      std::uint16_t* vicinity) {
  const std::uint32_t wide = size >= 8 ? 4 : size >= 4 ? 2 : 1;
  const std::uint32_t high = size >= 16 ? 4 : size >= 4 ? 2 : 1;
  const std::uint32_t groups_in_row = (machine.mesh_width + wide - 1) / wide;
  for (Location i = 0; i < locations; ++i) {
    std::uint32_t group = 0;
    if (size != 0 && machine.mesh_width == 0) {
      group = static_cast<std::uint32_t>(i / size);
    } else if (size != 0) {
      const std::uint32_t tile = machine.locations[static_cast<std::size_t>(i)].cpus.first();
      group = tile / machine.mesh_width / high * groups_in_row + tile % machine.mesh_width / wide;
    }
    vicinity[i] = static_cast<std::uint16_t>(group);
  }
}

void MachineTables::fill(const topology::Machine& machine, std::int32_t locations, const Choices& choices) {
  view.locations = locations;
  for (Location from = 0; from < locations; ++from) {
    const auto row = static_cast<std::size_t>(from);
    const topology::Location& location = machine.locations[row];
    for (Location to = 0; to < locations; ++to)
      distance_[from * locations + to] = machine.location_distance.at(row, static_cast<std::size_t>(to));
    rank_row(distance_ + from * locations, hops_ + from * locations, locations);
    cores_[from] = static_cast<std::uint32_t>(location.cpus.count());
    cache_per_core_[from] = least_of_caches(
        machine, location, [](const topology::CacheDomain& llc) { return llc.bytes / llc.sharers(); });
    l1_bytes_[from] =
        least_of_caches(machine, location, [](const topology::CacheDomain& llc) { return llc.l1d_bytes; });
    view.homes += location.holds_memory;
  }
  group_vicinities(machine, locations, choices.vicinity, vicinity_);
  view.distance = distance_;
  view.hops = hops_;
  view.cores = cores_;
  view.cache_per_core = cache_per_core_;
  view.l1_bytes = l1_bytes_;
  view.vicinity = vicinity_;
  view.significance = choices.significance;
  view.threshold = choices.threshold;
  view.slowdown = choices.slowdown;
  fill_prices(view, price_);
  view.price = price_;
  stated = view;
  stated.significance = Significance::gain;
  for (Location from = 0; from < locations; ++from) order_by_distance(view, from, near_ + from * locations);
}

}  // namespace hearth::policy
