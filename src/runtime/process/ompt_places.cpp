#include "runtime/process/ompt_places.h"

#include <cstring>

#include "memory/block_events.h"
#include "memory/managed.h"
#include "memory/owners.h"
#include "placement/distribution.h"
#include "runtime/locality/machine_view.h"
#include "runtime/state/process.h"
#include "runtime/tools/told_bytes.h"
#include "topology/current.h"

namespace hearth::rt::events {
namespace {

using topology::DistanceSource;
using topology::Machine;

int count_of(const Machine& machine) {
  const auto all = static_cast<int>(machine.locations.size());
  return all < placement::kMaxLocations ? all : placement::kMaxLocations;
}

const char* kind_of(const Machine& machine) {
  switch (machine.location_kind) {
    case topology::LocationKind::node: return "node";
    case topology::LocationKind::llc: return "llc";
    case topology::LocationKind::home_cache: return "home cache";
  }
  return "";
}

const char* distances_of(const Machine& machine) {
  switch (machine.distance_source) {
    case DistanceSource::flat: return "flat";
    case DistanceSource::slit: return "slit";
    case DistanceSource::latency: return machine.source == topology::Source::sysfs ? "hmat" : "model";
    case DistanceSource::hops: return "hops";
  }
  return "";
}

void get_machine(hearth_ompt_machine_t* out) {
  const Machine& machine = topology::machine();
  *out = {.name = machine.name.c_str(),
          .source = topology::source_name(machine.source),
          .pretended = machine.pretended,
          .kind = kind_of(machine),
          .distances = distances_of(machine),
          .policy = process.policy == nullptr ? "" : process.policy->name(),
          .locations = count_of(machine)};
}

int get_location(int number, hearth_ompt_location_t* out) {
  const Machine& machine = topology::machine();
  if (number < 0 || number >= count_of(machine)) return 0;
  const topology::Location& location = machine.locations[static_cast<std::size_t>(number)];
  *out = {.node = location.node < 0 ? -1 : static_cast<int>(machine.nodes[static_cast<std::size_t>(location.node)].os),
          .holds_memory = location.holds_memory,
          .memory_bytes = location.memory_bytes};
  return 1;
}

// What the policy goes by, which need not be the machine's own table.
int get_distance(int from, int to, double* latency_ns) {
  const Machine& machine = topology::machine();
  const int count = count_of(machine);
  *latency_ns = 0;
  if (from < 0 || to < 0 || from >= count || to >= count) return 0;
  const topology::Location& here = machine.locations[static_cast<std::size_t>(from)];
  const topology::Location& there = machine.locations[static_cast<std::size_t>(to)];
  const auto at = [&](const topology::Matrix<float>& table, int row, int column) {
    return table.empty() || row < 0 || column < 0
               ? 0.0
               : double{table.at(static_cast<std::size_t>(row), static_cast<std::size_t>(column))};
  };
  *latency_ns = machine.location_kind == topology::LocationKind::home_cache
                    ? at(machine.home_latency_ns, here.llc, there.llc)
                    : at(machine.read_latency_ns, here.node, there.node);
  return static_cast<int>(machine.location_distance.at(static_cast<std::size_t>(from), static_cast<std::size_t>(to)));
}

int location_of_cpu(int cpu) {
  const int location = cpu < 0 ? -1 : topology::machine().location_of_cpu(static_cast<unsigned>(cpu));
  return location < count_of(topology::machine()) ? location : -1;
}

int location_here() { return memory::location_here(); }

const char* why_name(int why) { return policy::why_name(why); }

int distribution_of(const void* address) {
  memory::ManagedBlock block;
  return memory::is_managed(address) && memory::block_at(address, block) ? static_cast<int>(block.kind) : -1;
}

const char* distribution_name(int kind) {
  return kind < 0 || kind > static_cast<int>(placement::Kind::custom)
             ? nullptr
             : placement::kind_name(static_cast<placement::Kind>(kind));
}

std::size_t homes_of(const void* begin, std::size_t bytes, hearth_ompt_bytes_t* homes, std::size_t room) {
  std::size_t count = 0;
  const placement::Shares shares = memory::look_up(placement::ByteRange::of(begin, bytes));
  const auto add = [&](int location, std::uint64_t there) {
    if (there != 0 && count < room) homes[count++] = {location, there, 0};
  };
  for (std::int32_t i = 0; i < shares.locations; ++i) add(i, shares.at[i]);
  add(-1, shares.unknown);
  return count;
}

std::atomic<hearth_ompt_callback_block_t> block_callback{nullptr};

void set_block_callback(hearth_ompt_callback_block_t callback) {
  block_callback.store(callback, std::memory_order_relaxed);
  const memory::BlockObserver observer = [](const memory::BlockNote& note) {
    if (const auto tell = block_callback.load(std::memory_order_relaxed))
      tell(note.begin, note.bytes, static_cast<int>(note.kind), note.caller);
  };
  memory::block_observer.store(callback == nullptr ? nullptr : observer, std::memory_order_relaxed);
}

void set_decision_callback(hearth_ompt_callback_decision_t callback) { told_bytes::callback = callback; }

}  // namespace

ompt_interface_fn_t lookup_places(const char* name) {
  struct Function {
    const char* name;
    ompt_interface_fn_t function;
  };
#define HEARTH_PLACES(f) {"hearth_ompt_" #f, reinterpret_cast<ompt_interface_fn_t>(f)}
  static const Function kFunctions[] = {
      HEARTH_PLACES(get_machine),           HEARTH_PLACES(get_location),       HEARTH_PLACES(get_distance),
      HEARTH_PLACES(location_of_cpu),       HEARTH_PLACES(location_here),      HEARTH_PLACES(why_name),
      HEARTH_PLACES(distribution_of),       HEARTH_PLACES(distribution_name),  HEARTH_PLACES(homes_of),
      HEARTH_PLACES(set_decision_callback), HEARTH_PLACES(set_block_callback),
  };
#undef HEARTH_PLACES
  for (const Function& f : kFunctions)
    if (std::strcmp(f.name, name) == 0) return f.function;
  return nullptr;
}

void forget_places() {
  told_bytes::callback = nullptr;
  set_block_callback(nullptr);
}

}  // namespace hearth::rt::events
