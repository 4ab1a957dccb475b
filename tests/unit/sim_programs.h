// Small programs put together step by step, for the tests of sim/.
#pragma once

#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

#include "policy/policies.h"
#include "sim/engine/engine.h"
#include "sim_machines.h"

namespace hearth::sim {

inline constexpr Time kNs = 1000;

inline Step step(Step::Kind kind, std::size_t index) {
  Step step;
  step.kind = kind;
  step.index = static_cast<std::uint32_t>(index) & kMaxIndex;
  return step;
}

// Workloads, step by step.
struct Steps {
  Workload w;

  explicit Steps(std::uint64_t region_bytes = 1 << 20, FirstTouch touch = FirstTouch::initial_thread) {
    w.name = "test";
    w.regions.push_back({"a", region_bytes, touch, true});
    w.kinds = {"task"};
  }
  TaskIndex task(std::initializer_list<Step> steps, std::initializer_list<TaskIndex> predecessors = {}) {
    Task task;
    task.first_step = static_cast<std::uint32_t>(w.steps.size());
    task.steps = static_cast<std::uint32_t>(steps.size());
    w.steps.insert(w.steps.end(), steps);
    task.first_predecessor = static_cast<std::uint32_t>(w.predecessors.size());
    task.predecessors = static_cast<std::uint32_t>(predecessors.size());
    w.predecessors.insert(w.predecessors.end(), predecessors);
    w.tasks.push_back(task);
    return static_cast<TaskIndex>(w.tasks.size() - 1);
  }
  Step work(std::uint64_t cycles, std::initializer_list<Access> accesses = {}) {
    w.works.push_back(
        {cycles, static_cast<std::uint32_t>(w.accesses.size()), static_cast<std::uint32_t>(accesses.size())});
    w.accesses.insert(w.accesses.end(), accesses);
    return step(Step::Kind::work, w.works.size() - 1);
  }
  // Task 0, which was reserved as the first, makes `children`, all that there are.
  void root(const std::vector<Step>& steps) {
    w.tasks[0].first_step = static_cast<std::uint32_t>(w.steps.size());
    w.tasks[0].steps = static_cast<std::uint32_t>(steps.size());
    w.steps.insert(w.steps.end(), steps.begin(), steps.end());
  }
};

inline Access reads(std::uint64_t offset, std::uint64_t bytes) {
  Access access;
  access.offset = offset;
  access.length = bytes;
  return access;
}
inline Step create(TaskIndex task) { return step(Step::Kind::create, task); }
inline Step wait_all() { return step(Step::Kind::wait_all, 0); }

inline Access writes(std::uint64_t offset, std::uint64_t bytes) {
  Access access = reads(offset, bytes);
  access.mode = placement::Access::write;
  return access;
}

/// Without races, and with bandwidth shared out at every instant.
inline RunOptions deterministic(const char* policy = "work-stealing") {
  RunOptions options;
  options.policy = policy::find_policy(policy);
  options.deterministic = true;
  options.grain = 0;
  return options;
}

// `count` tasks that each read their part of the region.
inline Workload flat(std::uint32_t count, std::uint64_t bytes_each, std::uint64_t cycles) {
  Steps b(count * bytes_each);
  b.task({});
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < count; ++i)
    steps.push_back(create(b.task({b.work(cycles, {reads(i * bytes_each, bytes_each)})})));
  steps.push_back(wait_all());
  b.root(steps);
  return b.w;
}

/// On the machine of 8 nodes with 6 cores each.
class Simulated : public testing::Test {
 protected:
  Result run(const Workload& workload, const RunOptions& options) {
    EXPECT_EQ(workload.inconsistency(), "");
    return simulate(workload, machine, parameters, options);
  }
  topology::Machine machine = model("opteron-6172x4");
  Parameters parameters = plain_parameters(machine);
};

}  // namespace hearth::sim
