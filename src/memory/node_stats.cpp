// See node_stats.h. No state.
#include "memory/node_stats.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <algorithm>
#include <string>

#include "memory/areas.h"
#include "topology/current.h"
#include "topology/system_root.h"

namespace hearth::memory {
namespace {

// "Node 0 MemFree:  1234 kB".
bool figure(const std::string& text, const char* name, std::uint64_t& bytes) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return false;
  bytes = std::strtoull(text.c_str() + at + std::strlen(name), nullptr, 10) * 1024;
  return true;
}

std::uint32_t distance(const topology::Machine& machine, Location from, Location to) {
  if (from == to) return 0;
  return from < 0 ? 1 : machine.location_distance.at(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
}

}  // namespace

bool node_stats(Location where, NodeStats& stats) {
  const MemoryHomes& homes = memory_homes();
  if (where < 0 || where >= homes.locations) return false;
  stats.in_areas = areas.bytes_at(where);
  if (!homes.kernel_places) {
    stats.total = topology::machine().locations[static_cast<std::size_t>(where)].memory_bytes;
    stats.free = stats.total - std::min(stats.total, stats.in_areas);
    return true;
  }
  char path[64];
  std::snprintf(path, sizeof path, "/sys/devices/system/node/node%u/meminfo", unsigned{homes.node[where]});
  std::string text;
  return topology::SystemRoot().read(path, text) && figure(text, "MemTotal:", stats.total) &&
         figure(text, "MemFree:", stats.free);
}

Location select_home(Choice choice, Location from) {
  const MemoryHomes& homes = memory_homes();
  const topology::Machine& machine = topology::machine();
  if (from == kUnknown) from = location_here();
  Location best = kUnknown;
  // Less is better: first what is asked for, then the way.
  std::uint64_t least = 0;
  std::uint32_t way = 0;
  for (std::int32_t h = 0; h < homes.homes.count; ++h) {
    const Location home = homes.homes.at[h];
    NodeStats stats;
    stats.in_areas = areas.bytes_at(home);
    if (choice != Choice::least_loaded && !node_stats(home, stats)) continue;
    if (choice == Choice::nearest && stats.total != 0 && stats.free <= stats.total / 16) continue;
    const std::uint64_t figure = choice == Choice::most_free      ? UINT64_MAX - stats.free
                                 : choice == Choice::least_loaded ? stats.in_areas
                                                                  : 0;
    const std::uint32_t far = distance(machine, from, home);
    if (best != kUnknown && (figure > least || (figure == least && far >= way))) continue;
    best = home;
    least = figure;
    way = far;
  }
  return best;
}

}  // namespace hearth::memory
