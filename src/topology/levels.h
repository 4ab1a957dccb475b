// The levels of a machine, outermost first, and where each CPU sits in them: what KMP_AFFINITY and KMP_HW_SUBSET count in.
// Pure functions of a Machine.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "topology/machine.h"

namespace hearth::topology {

enum Level : std::size_t { package_level, node_level, llc_level, core_level, thread_level, level_count };

/// The unit that a CPU belongs to, at each level. `global` has the machine's numbers; `local` counts within the level above,
/// as libomp's "sub ids": the first core of each package is number 0 of it.
struct Placed {
  using Path = std::array<int, level_count>;
  unsigned cpu = 0;
  Path global{};
  Path local{};
};

/// In machine order.
std::vector<Placed> placed_cpus(const Machine& machine, const CpuMask& which);

/// Levels that distinguish nothing inside the level above them take no part in permute and scatter (libomp drops them, too);
/// package, core and thread always do, so that permute means the same on a laptop and on a server.
std::vector<std::size_t> live_levels(const std::vector<Placed>& all);

/// The usable CPUs of the unit of `level` that holds `cpu`.
CpuMask unit_of(const Machine& machine, unsigned cpu, Level level);

}  // namespace hearth::topology
