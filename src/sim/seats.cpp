#include "sim/seats.h"

#include <algorithm>

namespace hearth::sim {
namespace {

// First every core's first CPU, in the machine's order, then the second ones, and so on.
std::vector<unsigned> cpus_core_by_core(const topology::Machine& machine) {
  std::vector<unsigned> cpus = cpus_in_machine_order(machine, machine.usable);
  std::vector<int> used(machine.cores.size(), 0);
  std::vector<std::pair<int, unsigned>> ranked;
  for (const unsigned cpu : cpus) {
    const int core = machine.cpus[static_cast<std::size_t>(machine.cpu_index(cpu))].core;
    ranked.emplace_back(core < 0 ? 0 : used[static_cast<std::size_t>(core)]++, cpu);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < cpus.size(); ++i) cpus[i] = ranked[i].second;
  return cpus;
}

Seat seat_at(const topology::Machine& machine, unsigned cpu) {
  return {cpu, std::max(machine.location_of_cpu(cpu), 0)};
}

// The rank of each distance among those that the row has, its own being 0.
void rank_row(const std::uint32_t* distance, std::uint32_t* hops, std::size_t count) {
  std::vector<std::uint32_t> values(distance, distance + count);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (std::size_t i = 0; i < count; ++i)
    hops[i] = static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), distance[i]) -
                                         values.begin());
}

std::uint64_t cache_of_a_core(const topology::Machine& machine, const topology::Location& location) {
  std::uint64_t least = 0;
  for (const topology::CacheDomain& llc : machine.llcs) {
    if (llc.bytes == 0 || !llc.cpus.intersects(location.cpus)) continue;
    const std::uint64_t share = llc.bytes / llc.sharers();
    if (least == 0 || share < least) least = share;
  }
  return least;
}

}  // namespace

std::vector<Seat> seats_of(const topology::Machine& machine, const RunOptions& options) {
  std::vector<Seat> seats;
  if (options.seating == Seating::one_per_location) {
    for (const topology::Location& location : machine.locations)
      if (!location.cpus.empty())
        seats.push_back(seat_at(machine, cpus_in_machine_order(machine, location.cpus).front()));
    return seats;
  }
  const std::vector<unsigned> cpus = cpus_core_by_core(machine);
  const std::size_t cores =
      std::min(cpus.size(), static_cast<std::size_t>(std::count_if(
                                machine.cores.begin(), machine.cores.end(),
                                [](const topology::Core& core) { return !core.usable.empty(); })));
  const std::size_t threads = std::clamp<std::size_t>(
      options.threads == 0 ? machine.default_team_size() : options.threads, 1, cpus.size());
  for (std::size_t i = 0; i < threads; ++i) {
    const bool spread = options.seating == Seating::spread && threads <= cores;
    seats.push_back(seat_at(machine, cpus[spread ? i * cores / threads : i]));
  }
  return seats;
}

View::View(const topology::Machine& machine, policy::Significance significance, policy::Threshold threshold) {
  const std::size_t count = std::min<std::size_t>(machine.locations.size(), placement::kMaxLocations);
  const auto locations = static_cast<std::int32_t>(count);
  distance_.resize(count * count);
  hops_.resize(count * count);
  for (std::size_t from = 0; from < count; ++from) {
    const topology::Location& location = machine.locations[from];
    for (std::size_t to = 0; to < count; ++to)
      distance_[from * count + to] = machine.location_distance.at(from, to);
    rank_row(&distance_[from * count], &hops_[from * count], count);
    cores_.push_back(static_cast<std::uint32_t>(location.cpus.count()));
    cache_per_core_.push_back(cache_of_a_core(machine, location));
  }
  price_.resize(count * static_cast<std::size_t>(policy::price_row(locations)));
  machine_.locations = locations;
  machine_.distance = distance_.data();
  machine_.price = price_.data();
  machine_.hops = hops_.data();
  machine_.cores = cores_.data();
  machine_.cache_per_core = cache_per_core_.data();
  machine_.significance = significance;
  machine_.threshold = threshold;
  fill_prices(machine_, price_.data());
  near_.resize(count * count);
  for (Location from = 0; from < locations; ++from)
    order_by_distance(machine_, from, near_.data() + static_cast<std::size_t>(from) * count);
}

}  // namespace hearth::sim
