#include "stream.h"

#include <algorithm>
#include <cmath>

namespace hearth::sim {

// What a thread or a migration asks of the machine: bytes by resource, and the time it takes alone.
struct StreamMachine::Load {
  double alone_ns = 0;
  double bytes = 0;
  std::vector<double> asked;  // nodes, links, the machine
};

StreamMachine::StreamMachine(const topology::Machine& machine, const Parameters& parameters)
    : machine_(machine), parameters_(parameters), nodes_(static_cast<std::uint32_t>(machine.nodes.size())) {}

double StreamMachine::latency_ns(std::uint32_t core, std::uint32_t memory, bool written) const {
  const double read = parameters_.read_ns.at(core, memory);
  if (!written) return read;
  if (!machine_.write_latency_ns.empty()) return machine_.write_latency_ns.at(core, memory);
  return read * parameters_.write_latency.value;
}

void StreamMachine::add(Load& load, std::uint32_t core, std::uint32_t memory, double bytes,
                        bool written) const {
  const std::size_t links = parameters_.links.size();
  load.asked.resize(nodes_ + links + 1);
  double served = bytes;
  if (written) served *= parameters_.write_occupancy.value;
  if (core != memory) served *= parameters_.remote_occupancy.value;
  load.asked[memory] += served;
  for (const std::uint32_t link : parameters_.routes[memory * nodes_ + core])
    load.asked[nodes_ + link] += bytes;
  if (written) {
    for (const std::uint32_t link : parameters_.routes[core * nodes_ + memory])
      load.asked[nodes_ + link] += bytes;
  }
  load.asked[nodes_ + links] += bytes;
  load.bytes += bytes;
}

double StreamMachine::run(const std::vector<Load>& loads) const {
  Fluid fluid;
  for (const Figure& node : parameters_.memory_gbs) fluid.add_resource(node.value);
  for (const Link& link : parameters_.links) fluid.add_resource(link.gbs.value);
  // Fluid wants capacities above 0, and has no word for "no such limit".
  constexpr double kNoLimit = 1e12;
  fluid.add_resource(parameters_.coherence_gbs.value > 0 ? parameters_.coherence_gbs.value : kNoLimit);
  std::vector<Fluid::Use> uses;
  for (const Load& load : loads) {
    uses.clear();
    for (std::size_t resource = 0; resource < load.asked.size(); ++resource) {
      if (load.asked[resource] > 0)
        uses.push_back({static_cast<Fluid::Resource>(resource), load.asked[resource] / load.bytes});
    }
    fluid.start(0, static_cast<Time>(std::ceil(load.alone_ns * 1000)), load.bytes, uses);
  }
  Time last = 0;
  while (fluid.active() > 0) {
    last = fluid.next_end();
    fluid.end_next();
  }
  return static_cast<double>(last) / 1000;
}

double StreamMachine::ns(const std::vector<Stream>& streams) const {
  const double in_flight =
      parameters_.patterns[static_cast<std::size_t>(Pattern::stream)].misses_in_flight.value *
      parameters_.line_bytes;
  std::vector<Load> loads;
  for (const Stream& stream : streams) {
    Load load;
    for (const Stretch& stretch : stream.stretches) {
      for (std::uint32_t memory = 0; memory < nodes_; ++memory) {
        const double bytes = stretch.bytes * stretch.on[memory];
        if (bytes <= 0) continue;
        load.alone_ns += bytes * latency_ns(stream.node, memory, stretch.written) / in_flight;
        add(load, stream.node, memory, bytes, stretch.written);
      }
    }
    loads.push_back(std::move(load));
  }
  return run(loads);
}

double StreamMachine::moved_ns(const std::vector<Move>& moves, double call_us, double page_us) const {
  std::vector<Load> loads;
  for (const Move& move : moves) {
    if (move.bytes <= 0 || move.from == move.to) continue;
    const double pages = std::ceil(move.bytes / parameters_.page_bytes);
    Load load;
    load.alone_ns = 1000 * (call_us + pages * page_us);
    // The kernel copies on the CPU of who asked, which is at the new place: it reads from there and writes
    // here.
    add(load, move.to, move.from, move.bytes, false);
    add(load, move.to, move.to, move.bytes, true);
    loads.push_back(std::move(load));
  }
  return run(loads);
}

double StreamMachine::move_memory_ns(const std::vector<Move>& moves) const {
  return moved_ns(moves, parameters_.move_pages_base_us.value, parameters_.move_pages_us.value);
}

double StreamMachine::next_touch_ns(const std::vector<Move>& moves) const {
  return moved_ns(moves, 0, parameters_.fault_us.value);
}

double StreamMachine::move_threads_ns(std::uint32_t threads) const {
  return 1000 * parameters_.move_thread_us.value * threads;
}

}  // namespace hearth::sim
