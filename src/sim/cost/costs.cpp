// See costs.h.
#include "sim/cost/costs.h"

#include <algorithm>

namespace hearth::sim {

void fill_costs(const topology::Machine& machine, const Parameters& parameters, Pattern pattern,
                placement::CostModel& costs) {
  constexpr double kNanoseconds = 1000;
  const auto locations = std::min<std::int32_t>(static_cast<std::int32_t>(machine.locations.size()),
                                                placement::kMaxLocations);
  costs.fill(machine, locations);
  costs.line_bytes = parameters.line_bytes;
  costs.page_bytes = parameters.page_bytes;
  costs.lines_at_a_time = parameters.patterns[static_cast<std::size_t>(pattern)].misses_in_flight.value;
  costs.remote_occupancy = parameters.remote_occupancy.value;
  costs.write_occupancy = parameters.write_occupancy.value;
  costs.machine_gbs = parameters.coherence_gbs.value;
  costs.thread_move_ns = kNanoseconds * parameters.move_thread_us.value;
  costs.thread_arrive_ns = 0;
  costs.touched_page_ns = kNanoseconds * parameters.fault_us.value;
  costs.set_migration(kNanoseconds * parameters.move_pages_base_us.value,
                      kNanoseconds * parameters.move_pages_us.value);
  for (const Link& link : parameters.links) costs.add_link(link.gbs.value);
  const auto node_of = [&](placement::Location where) {
    return static_cast<std::size_t>(machine.locations[static_cast<std::size_t>(where)].node);
  };
  for (placement::Location to = 0; to < locations; ++to) {
    costs.set_memory_gbs(to, parameters.memory_gbs[static_cast<std::size_t>(to)].value);
    for (placement::Location from = 0; from < locations; ++from) {
      const std::size_t core = node_of(from), memory = node_of(to);
      const double read = parameters.read_ns.at(core, memory);
      costs.set_read_line_ns(from, to, read);
      costs.set_write_line_ns(from, to,
                              machine.write_latency_ns.empty()
                                  ? read * parameters.write_latency.value
                                  : static_cast<double>(machine.write_latency_ns.at(core, memory)));
      costs.set_pair_gbs(from, to, 0);  // the links say more
      for (const std::uint32_t link : parameters.routes[memory * machine.nodes.size() + core])
        if (static_cast<std::int32_t>(link) < costs.links())
          costs.add_to_route(from, to, static_cast<std::int32_t>(link));
    }
  }
}

}  // namespace hearth::sim
