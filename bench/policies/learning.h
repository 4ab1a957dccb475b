// Runs that begin with what runs before them have learned: accounts of task constructs, and distributions of allocation sites.
#pragma once

#include <string>

#include "sim/engine/engine.h"

namespace hearth::policies {

struct Program {
  const sim::Workload& workload;
  const topology::Machine& machine;
  const sim::Parameters& parameters;
};

/// Accounts begin with what two runs before have shown ("own"), with the contrary of what dealing is for ("wrong": no task
/// loses anything elsewhere), or with nothing ("none").
sim::Result run_with(const Program& program, const std::string& earlier, sim::RunOptions options);

/// The third of three runs in which each site's distribution is learned. A site: regions of one name, but for [numbers], whose
/// sizes are of one class.
inline constexpr const char* kLearned = "learned";
sim::Result third_run(const Program& program, sim::RunOptions options);

}  // namespace hearth::policies
