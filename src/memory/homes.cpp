// See homes.h for what is published, and how it is read.
//
// Orders: `published` is set with release by the thread whose MemoryHomes it is, and read with acquire by all others,
// also by one whose own came too late.
#include "memory/homes.h"

#include <cstring>

#include <algorithm>
#include <atomic>
#include <new>

#include <sched.h>

#include "topology/current.h"

namespace hearth::memory {
namespace {

// One of the threads that come first fills it in; the others wait for none: they fill in one of their own,
// drop it, and take what was published.
constinit std::atomic<const MemoryHomes*> published{nullptr};
constinit std::atomic<Location (*)()> the_locator{nullptr};

MemoryHomes* work_out(const topology::Machine& machine) {
  auto* out = new (std::nothrow) MemoryHomes;
  if (out == nullptr) return nullptr;
  std::memset(out->location_of_node, kUnknown, sizeof(out->location_of_node));
  const auto count = static_cast<std::int32_t>(machine.locations.size());
  out->locations = std::min(count, placement::kMaxLocations);
  for (std::int32_t i = 0; i < out->locations; ++i) {
    const topology::Location& location = machine.locations[static_cast<std::size_t>(i)];
    if (location.holds_memory) out->homes.at[out->homes.count++] = i;
    if (location.node < 0) continue;
    const unsigned os = machine.nodes[static_cast<std::size_t>(location.node)].os;
    out->node[i] = static_cast<std::uint16_t>(os);
    if (os >= kMostNodes || location.kind == topology::LocationKind::home_cache) continue;
    if (out->location_of_node[os] == kUnknown)
      out->location_of_node[os] = static_cast<std::int8_t>(i);
    else
      out->divided = true;
  }
  out->equal = placement::make_shape(out->homes, nullptr);
  out->rounds = out->divided ? placement::make_rounds(out->homes, out->node) : out->equal;
  const bool caches = machine.location_kind == topology::LocationKind::home_cache;
  out->unit = caches ? 64 : kPage;
  out->kernel_places = !machine.pretended && !caches;
  for (std::int32_t i = 0; i < out->locations; ++i) {
    Location best = kUnknown;
    std::uint32_t least = UINT32_MAX;
    for (std::int32_t h = 0; h < out->homes.count; ++h) {
      const Location home = out->homes.at[h];
      const std::uint32_t distance = home == i ? 0
                                               : machine.location_distance.at(static_cast<std::size_t>(i),
                                                                              static_cast<std::size_t>(home));
      if (distance >= least) continue;
      least = distance;
      best = home;
    }
    out->nearest[i] = best;
  }
  return out;
}

constinit const MemoryHomes nothing_known{};

}  // namespace

const MemoryHomes& memory_homes() {
  if (const MemoryHomes* there = published.load(std::memory_order_acquire)) return *there;
  const MemoryHomes* mine = work_out(topology::machine());
  if (mine == nullptr) return nothing_known;
  const MemoryHomes* expected = nullptr;
  if (published.compare_exchange_strong(expected, mine, std::memory_order_release, std::memory_order_acquire))
    return *mine;
  delete mine;
  return *expected;
}

Location location_here() {
  if (Location(*locator)() = the_locator.load(std::memory_order_relaxed)) {
    if (const Location where = locator(); where != kUnknown) return where;
  }
  const topology::Machine& machine = topology::machine();
  if (machine.pretended) return kUnknown;
  const int cpu = sched_getcpu();
  const int where = cpu >= 0 ? machine.location_of_cpu(static_cast<unsigned>(cpu)) : -1;
  return where < placement::kMaxLocations ? where : kUnknown;
}

void set_locator(Location (*locator)()) { the_locator.store(locator, std::memory_order_relaxed); }

}  // namespace hearth::memory
