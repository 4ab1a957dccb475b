// The figures of a model's [simulator] table as placement::CostModel, so that policies plan with what the simulator charges.
// Pure; one thread.
#pragma once

#include "placement/cost.h"
#include "sim/cost/parameters.h"

namespace hearth::sim {

/// Present values of all figures, for a core that goes through memory in this way. The locations of the machine are nodes.
void fill_costs(const topology::Machine& machine, const Parameters& parameters, Pattern pattern,
                placement::CostModel& costs);

}  // namespace hearth::sim
