// Clang's entry points for taskloop. Any thread of the program.
//
// Clang hands over one task as a pattern, with its bounds (inclusive) inside. Each share is a copy of the pattern: what
// points into it (shareds, bounds) is moved along, then `task_dup` makes the copy's private variables. The pattern is never run.
#include <cstdint>
#include <cstring>

#include "abi/export.h"
#include "abi/kmpc_task.h"
#include "runtime/events.h"
#include "runtime/taskloop.h"

namespace rt = hearth::rt;
using hearth::abi::kmp_task_of;
using rt::Task;
using rt::TaskloopPlan;
using rt::Thread;

namespace {

using Duplicate = void (*)(kmp_task_t*, kmp_task_t*, std::int32_t last);

// Where `inside` of the pattern lies in the copy.
template <class T>
T* moved(T* inside, Task* pattern, Task* copy) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(copy->payload()) +
                              (reinterpret_cast<char*>(inside) - reinterpret_cast<char*>(pattern->payload())));
}

Task* copy_of(Thread* self, Task* pattern) {
  Task* task = rt::new_task(self, pattern->payload_size, pattern->flags);
  task->routine = pattern->routine;
  task->payload_size = pattern->payload_size;
  task->priority = pattern->priority;
  std::memcpy(task->payload(), pattern->payload(), pattern->payload_size);
  kmp_task_t* kmp = kmp_task_of(task);
  task->data = kmp;
  if (kmp->shareds != nullptr)
    kmp->shareds = moved(static_cast<char*>(kmp_task_of(pattern)->shareds), pattern, task);
  return task;
}

void taskloop(Thread* self, Task* pattern, bool deferred, std::uint64_t* lower_at, std::uint64_t* upper_at, std::int64_t stride,
              bool grouped, std::int32_t schedule, std::uint64_t amount, bool strict, Duplicate duplicate) {
  if (grouped) rt::taskgroup_begin(self);
  hearth::abi::take_priority(pattern);
  std::uint64_t lower = *lower_at;
  const std::uint64_t upper = *upper_at;
  std::uint64_t iterations = 0;
  if (stride > 0 && static_cast<std::int64_t>(lower) <= static_cast<std::int64_t>(upper))
    iterations = (upper - lower) / static_cast<std::uint64_t>(stride) + 1;
  else if (stride < 0 && static_cast<std::int64_t>(lower) >= static_cast<std::int64_t>(upper))
    iterations = (lower - upper) / -static_cast<std::uint64_t>(stride) + 1;

  constexpr std::int32_t kGrainsize = 1, kNumTasks = 2;
  const auto clause = schedule == kGrainsize  ? TaskloopPlan::Clause::grainsize
                      : schedule == kNumTasks ? TaskloopPlan::Clause::num_tasks
                                              : TaskloopPlan::Clause::none;
  const TaskloopPlan plan = rt::plan_taskloop(iterations, clause, amount, strict, self->team->size);
  for (std::uint64_t i = 0; i < plan.tasks; ++i) {
    const bool last = i + 1 == plan.tasks;
    const std::uint64_t next = lower + plan.size_of(i) * static_cast<std::uint64_t>(stride);
    Task* task = copy_of(self, pattern);
    *moved(lower_at, pattern, task) = lower;
    *moved(upper_at, pattern, task) = last ? upper : next - static_cast<std::uint64_t>(stride);
    if (duplicate != nullptr) duplicate(kmp_task_of(task), kmp_task_of(pattern), last);
    if (deferred)
      rt::spawn(self, task);
    else
      rt::run_undeferred(self, task);
    lower = next;
  }
  hearth::abi::discard_kmp_task(self, pattern);
  if (grouped) rt::taskgroup_end(self);
}

}  // namespace

HEARTH_EXPORT void __kmpc_taskloop(ident_t*, std::int32_t, kmp_task_t* pattern, std::int32_t if_val, std::uint64_t* lower,
                                   std::uint64_t* upper, std::int64_t stride, std::int32_t nogroup, std::int32_t schedule,
                                   std::uint64_t grainsize, void* task_dup) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, Task::of_payload(pattern), if_val != 0, lower, upper, stride, nogroup == 0, schedule, grainsize, false,
           reinterpret_cast<Duplicate>(task_dup));
}

HEARTH_EXPORT void __kmpc_taskloop_5(ident_t*, std::int32_t, kmp_task_t* pattern, std::int32_t if_val, std::uint64_t* lower,
                                     std::uint64_t* upper, std::int64_t stride, std::int32_t nogroup, std::int32_t schedule,
                                     std::uint64_t grainsize, std::int32_t modifier, void* task_dup) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, Task::of_payload(pattern), if_val != 0, lower, upper, stride, nogroup == 0, schedule, grainsize, modifier != 0,
           reinterpret_cast<Duplicate>(task_dup));
}
