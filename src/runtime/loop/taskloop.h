// How a taskloop's iterations are dealt to tasks (OpenMP 5.2, section 12.6). Pure.
#pragma once

#include <cstdint>

namespace hearth::rt {

struct TaskloopPlan {
  enum class Clause : std::uint8_t { none, grainsize, num_tasks };

  std::uint64_t tasks = 0;
  std::uint64_t each = 0;      // iterations of a task
  std::uint64_t one_more = 0;  // the first so many tasks get one more
  std::uint64_t last = 0;      // iterations of the last task

  /// Iterations before those of the task.
  std::uint64_t first_of(std::uint64_t task) const {
    return task * each + (task < one_more ? task : one_more);
  }
  std::uint64_t size_of(std::uint64_t task) const {
    return task + 1 == tasks ? last : each + (task < one_more ? 1 : 0);
  }
};

/// `amount` is the clause's argument. Without a clause there are several tasks a thread, so that the uneven
/// ones even out.
inline TaskloopPlan plan_taskloop(std::uint64_t iterations, TaskloopPlan::Clause clause, std::uint64_t amount,
                                  bool strict, std::int32_t team_size) {
  constexpr std::uint64_t kTasksPerThread = 8;
  TaskloopPlan plan;
  if (iterations == 0) return plan;
  if (amount == 0) amount = 1;
  if (clause == TaskloopPlan::Clause::grainsize && strict) {
    plan.tasks = (iterations - 1) / amount + 1;
    plan.each = amount;
    plan.last = iterations - (plan.tasks - 1) * amount;
    return plan;
  }
  std::uint64_t tasks;
  if (clause == TaskloopPlan::Clause::grainsize)
    tasks = iterations / amount;  // then every task has at least `amount` and less than twice as many
  else if (clause == TaskloopPlan::Clause::num_tasks)
    tasks = amount;
  else
    tasks = team_size <= 1 ? 1 : static_cast<std::uint64_t>(team_size) * kTasksPerThread;
  if (tasks > iterations) tasks = iterations;
  if (tasks == 0) tasks = 1;
  plan.tasks = tasks;
  plan.each = iterations / tasks;
  plan.one_more = iterations % tasks;
  plan.last = plan.each;
  return plan;
}

}  // namespace hearth::rt
