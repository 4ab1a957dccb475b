// A simulated run in the form of a recording, so that all that reads recordings shows it: tasks, spans and waits of every
// thread, what is made where, bytes by location, the policy's decisions. Used by one thread.
//
// Not in it: pages and threads that move, loops, and single accesses, which the simulator does not tell.
#pragma once

#include <string>

#include "record/recording.h"
#include "sim/engine/engine.h"

namespace hearth::replay {

struct SimulatedRun {
  const sim::Workload& workload;
  const topology::Machine& machine;
  const sim::Parameters& parameters;  // drawn
  sim::RunOptions options;
  std::string distribution;  // its name
  std::string command;
};

/// Simulates it, and writes the recording to `path`. Empty, or why not. `progress`: tasks, then rows that are written.
std::string record_simulation(const SimulatedRun& run, const std::string& path, const record::ProgressOf& progress);

}  // namespace hearth::replay
