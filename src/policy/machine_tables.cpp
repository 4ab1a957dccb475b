#include "policy/machine_tables.h"

#include <algorithm>

#include "base/assert.h"

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

[[maybe_unused]] bool is_sorted_by_hops(const MachineView& view, Location from, const Location* order) {
  return order[0] == from && std::is_sorted(order, order + view.locations, [&view, from](Location a, Location b) {
           return view.distance_between(from, a) < view.distance_between(from, b);
         });
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
  HEARTH_ASSERT(locations >= 1 && locations <= placement::kMaxLocations, "%d locations", locations);
  view.locations = locations;
  for (Location from = 0; from < locations; ++from) {
    const auto row = static_cast<std::size_t>(from);
    const topology::Location& location = machine.locations[row];
    for (Location to = 0; to < locations; ++to)
      distance_[from * locations + to] = machine.location_distance.at(row, static_cast<std::size_t>(to));
    rank_row(distance_ + from * locations, hops_ + from * locations, locations);
    HEARTH_ASSERT_INVARIANT(hops_[from * locations + from] == 0, "location %d is %u hops away from itself", from,
                            hops_[from * locations + from]);
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
  for (Location from = 0; from < locations; ++from) {
    Location* order = near_ + from * locations;
    order_by_distance(view, from, order);
    HEARTH_ASSERT_STRUCTURE(is_sorted_by_hops(view, from, order), "the locations near %d are not in order", from);
  }
}

}  // namespace hearth::policy
