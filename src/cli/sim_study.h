// What `hearth sim` simulates: a program, a machine, and the ways that are compared. Used by one thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/sim.h"
#include "sim/study/search.h"
#include "sim/study/sweep.h"
#include "topology/machine.h"

namespace hearth::cli {

/// What is wrong with the arguments.
struct UsageError {
  std::string text;
};

/// "a, b, c"
template <class Words>
std::string joined(const Words& words) {
  std::string list;
  for (const auto& word : words) list += (list.empty() ? "" : ", ") + std::string(word);
  return list;
}

struct Way {
  std::string policy;
  std::string distribution;
};

struct SimulatedMachine {
  topology::Machine machine;
  sim::Parameters parameters;
};

struct Study {
  sim::Workload workload;
  SimulatedMachine model;
  std::vector<Way> ways;  // [0]: what the others are compared with
  std::vector<sim::RunOptions> options;
  sim::Searched advice;  // with --advise
  bool allocations_known = true;
};

// The ways of --advise: their places, and the words for distributions that differ by allocation.
inline constexpr std::size_t kByRules = 2;
inline constexpr const char *kRules = "by the rules", *kAdvised = "advised";

/// Generators that --list tells.
std::vector<std::string> program_names();

/// Throws UsageError.
Study plan(const SimRequest& request);
/// With --advise: what is searched, and then the ways that are compared with what it has found.
sim::SearchRequest plan_search(const SimRequest& request, const Study& study);
void compare_advice(Study& study);

}  // namespace hearth::cli
