// Which distribution suits each allocation of a workload, and which policy, found by simulating the program
// under many of them: advice.h's answers are where it begins.
//
// Allocations that tasks use alike get one distribution. First each policy is simulated with the rules'
// advice and with one distribution for all; then, with the best, group after group is tried with every other
// distribution, those that tasks touch most first, until nothing gains or the allowed runs are used up. All
// are compared over the same draws, and in the end the best of them once more over others. What comes out
// depends on nothing but the request, whatever its threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include <functional>
#include <span>
#include <vector>

#include "policy/advice.h"
#include "sim/engine/engine.h"
#include "sim/cost/parameters.h"
#include "sim/workload/workload.h"
#include "topology/machine.h"

namespace hearth::sim {

/// What is tried for an allocation.
std::span<const placement::Kind> searched_kinds();

/// Allocations that tasks use alike.
struct RegionGroup {
  std::vector<RegionIndex> regions;
  policy::RegionUse use;  // of the first
  std::uint64_t bytes = 0;
  double touched = 0;  // bytes, by all tasks, each time they do
  bool written = false;
};
/// Of all regions that take part in distributions; those that tasks touch most first.
std::vector<RegionGroup> group_regions(const Workload& workload, const std::vector<placement::Kind>& advice);

struct SearchRequest {
  const Workload* workload = nullptr;
  const topology::Machine* machine = nullptr;
  const Parameters* parameters = nullptr;
  RunOptions options;  // what all runs have in common
  std::vector<const policy::TaskPolicy*> policies;
  std::uint32_t draws = 5;
  bool nominal = false;
  std::uint64_t first_seed = 1;
  std::size_t most_ways = 64;  // each simulated over all draws; the first round is never left out
  unsigned threads = 1;
  /// As SweepRequest::progress; the part is of what is allowed, so it may end early.
  std::function<bool(double)> progress;
};

struct Searched {
  bool complete = true;
  const policy::TaskPolicy* policy = nullptr;  // null if it was interrupted at once
  std::vector<placement::Kind> by_region;      // the best that was found
  std::vector<placement::Kind> by_rules;       // advise()'s
  std::vector<RegionGroup> groups;
  std::size_t ways = 0;  // how many were simulated
};

Searched search(const SearchRequest& request);

}  // namespace hearth::sim
