// `hearth sim --log-decisions`: the decisions of one simulation in a file, in the form of the runtime's
// HEARTH_LOG_DECISIONS (policy/decision_text.h). Used by one thread.
#pragma once

#include <string>

#include "sim/engine/engine.h"

namespace hearth::cli {

/// Simulates the workload without races, and writes what its policy decides. Empty, or what went wrong.
std::string log_decisions(const std::string& path, const sim::Workload& workload,
                          const topology::Machine& machine, const sim::Parameters& parameters,
                          sim::RunOptions options);

}  // namespace hearth::cli
