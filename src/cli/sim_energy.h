// Joules of simulated runs, by the model's coefficients (energy/model.h).
#pragma once

#include <cstddef>
#include <vector>

#include "cli/sim.h"
#include "cli/sim_study.h"
#include "sim/study/sweep.h"

namespace hearth::cli {

/// By the coefficients' values: of a draw's parameters they are that draw's.
double joules_of(const sim::Result& result, const sim::Parameters& parameters, const topology::Machine& machine);

/// Of one way, by draw, each with its draw's coefficients; none where the model has no [simulator.energy].
std::vector<double> joules_of_way(const SimRequest& request, const Study& study, const sim::Sweep& sweep,
                                  std::size_t way);

}  // namespace hearth::cli
