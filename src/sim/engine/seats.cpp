#include "sim/engine/seats.h"

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

}  // namespace

std::vector<Seat> seats_of(const topology::Machine& machine, const RunOptions& options) {
  std::vector<Seat> seats;
  for (const unsigned cpu : options.cpus) seats.push_back(seat_at(machine, cpu));
  if (!seats.empty()) return seats;
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

}  // namespace hearth::sim
