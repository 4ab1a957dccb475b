// See builder.h.
#include "sim/workload/builder.h"

#include <algorithm>
#include <utility>

namespace hearth::sim {

Builder::Builder(std::string name) {
  workload_.name = std::move(name);
  workload_.kinds.emplace_back("program");
  workload_.tasks.emplace_back();
  open_.emplace_back();
}

RegionIndex Builder::region(std::string name, std::uint64_t bytes, FirstTouch first_touch) {
  workload_.regions.push_back({std::move(name), bytes, first_touch, true});
  return static_cast<RegionIndex>(workload_.regions.size() - 1);
}

std::uint32_t Builder::kind(std::string name) {
  workload_.kinds.push_back(std::move(name));
  return static_cast<std::uint32_t>(workload_.kinds.size() - 1);
}

void Builder::step(Step::Kind kind, std::size_t index) {
  Step step;
  step.kind = kind;
  step.index = static_cast<std::uint32_t>(index) & kMaxIndex;
  open().steps.push_back(step);
}

void Builder::begin_task(std::uint32_t kind) {
  const std::size_t task = workload_.tasks.size();
  step(Step::Kind::create, task);
  workload_.tasks.emplace_back().kind = kind;
  if (++depth_ == open_.size()) open_.emplace_back();
  open().task = static_cast<TaskIndex>(task);
}

void Builder::depend(RegionIndex region, std::uint64_t offset, placement::Access mode) {
  constexpr int kOffsetBits = 40;
  open().items.push_back(
      {static_cast<std::uint64_t>(region) << kOffsetBits | offset, mode != placement::Access::read});
}

void Builder::work(std::uint64_t cycles) {
  step(Step::Kind::work, workload_.works.size());
  workload_.works.push_back({cycles, static_cast<std::uint32_t>(workload_.accesses.size()), 0});
}

void Builder::access(const Access& access) {
  workload_.accesses.push_back(access);
  workload_.works.back().accesses += 1;
}

void Builder::task_wait() { step(Step::Kind::task_wait, 0); }
void Builder::wait_all() { step(Step::Kind::wait_all, 0); }

// Of the task that is closed, in its parent's order.
void Builder::store_predecessors() {
  Open& closed = open();
  auto& uses = open_[depth_ - 1].uses;
  auto& all = workload_.predecessors;
  const auto first = static_cast<std::ptrdiff_t>(all.size());
  for (const Item& item : closed.items) {
    const Use& use = uses[item.key];
    if (item.writes && !use.readers.empty())
      all.insert(all.end(), use.readers.begin(), use.readers.end());
    else if (use.writer != kNobody)
      all.push_back(use.writer);
  }
  std::sort(all.begin() + first, all.end());
  all.erase(std::unique(all.begin() + first, all.end()), all.end());
  Task& task = workload_.tasks[closed.task];
  task.first_predecessor = static_cast<std::uint32_t>(first);
  task.predecessors = static_cast<std::uint32_t>(all.size()) - task.first_predecessor;
  for (const Item& item : closed.items) {
    Use& use = uses[item.key];
    if (item.writes) {
      use.writer = closed.task;
      use.readers.clear();
    } else if (use.readers.empty() || use.readers.back() != closed.task) {
      use.readers.push_back(closed.task);
    }
  }
}

void Builder::end_task() {
  if (depth_ != 0) store_predecessors();
  Open& closed = open();
  Task& task = workload_.tasks[closed.task];
  task.first_step = static_cast<std::uint32_t>(workload_.steps.size());
  task.steps = static_cast<std::uint32_t>(closed.steps.size());
  workload_.steps.insert(workload_.steps.end(), closed.steps.begin(), closed.steps.end());
  closed.steps.clear();
  closed.uses.clear();
  closed.items.clear();
  if (depth_ != 0) --depth_;
}

Workload Builder::take() {
  while (depth_ != 0) end_task();
  end_task();
  return std::move(workload_);
}

}  // namespace hearth::sim
