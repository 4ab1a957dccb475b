// What one simulated visit to a machine gives: figures by name, "figure 7/map/locality + coarse" or
// "table 6/forestgomp/phase 2". Claims, bands and plots refer to them by these names.
#pragma once

#include <cstdint>

#include <functional>
#include <map>
#include <string>

#include "sim/cost/parameters.h"
#include "topology/machine.h"

namespace hearth::papers {

using Cells = std::map<std::string, double>;

/// A machine as one draw sees it. The seed decides races, and who sits where if threads are not bound.
struct Visit {
  const topology::Machine& machine;
  const sim::Parameters& parameters;
  std::uint64_t seed = 0;
  bool drawn = false;  // parameters are a draw: cells that no claim needs and that take long are left out
  bool quick = false;  // sizes that take no time, to see that all of it runs
};

}  // namespace hearth::papers
