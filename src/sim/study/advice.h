// Which distribution suits each region of a workload: policy/advice.h's answers, from the workload's accesses
// and from one run of it on the machine. Pure.
#pragma once

#include <vector>

#include "policy/advice.h"
#include "sim/engine/engine.h"

namespace hearth::sim {

struct TasksUse {
  policy::RegionUse region;
  double touched = 0;  // bytes, by all tasks, each time they do
  bool written = false;
};
/// By region.
std::vector<TasksUse> tasks_use(const Workload& workload);

/// By region; for RunOptions::by_region. `options`: how many threads, and where; the run that tells how long
/// tasks take is one of work stealing with everything finely distributed.
std::vector<placement::Kind> advise(const Workload& workload, const topology::Machine& machine,
                                    const Parameters& parameters, const RunOptions& options);

}  // namespace hearth::sim
