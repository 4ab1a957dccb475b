// How long threads take that are mapped: a workload for the simulator, with one worker for each core that is used.
#pragma once

#include <vector>

#include "mappers/mapper.h"
#include "sim/engine/engine.h"

namespace hearth::cli {

/// Milliseconds, with the model's own values; below 0: it is too much to simulate.
///
/// Threads of one core run one after the other. Each computes its load and, in several rounds, writes half of what it
/// exchanges with each partner and reads the partner's half. A graph without units counts so that its mean load is a
/// millisecond and its mean edge a mebibyte.
double simulated_ms(const mappers::Graph& graph, const mappers::Target& target,
                    const std::vector<mappers::LeafIndex>& leaf_of, const topology::Machine& machine,
                    const sim::Parameters& parameters);

}  // namespace hearth::cli
