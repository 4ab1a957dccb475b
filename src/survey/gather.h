// What `hearth topo --gather` records of a machine, so that it can be shown and simulated elsewhere.
#pragma once

#include <cstddef>
#include <string>

#include "topology/machine.h"
#include "topology/system_root.h"

namespace hearth::survey {

struct Gathered {
  std::size_t files = 0;
  std::size_t bytes = 0;
};
/// Writes what read_sysfs() and hwloc need of `root` to an archive. Only the needed lines of files that say more than
/// that.
Gathered gather(const topology::SystemRoot& root, const topology::CpuMask& affinity, const std::string& path);

}  // namespace hearth::survey
