// Clang's entry points for taskloop. Any thread of the program.
//
// Clang hands over one task as a pattern, with its bounds (inclusive) inside. Each share is a copy of the
// pattern: what points into it (shareds, bounds) is moved along, then `task_dup` makes the copy's private
// variables. The pattern is never run.
#include <cstdint>
#include <cstring>

#include "abi/export.h"
#include "abi/kmpc/task.h"
#include "runtime/task/create.h"
#include "runtime/task/ready.h"
#include "runtime/task/undeferred.h"
#include "runtime/task/taskgroup.h"
#include "runtime/tools/events.h"
#include "runtime/loop/taskloop.h"
#include "runtime/loop/taskloop_range.h"

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
  return reinterpret_cast<T*>(
      reinterpret_cast<char*>(copy->payload()) +
      (reinterpret_cast<char*>(inside) - reinterpret_cast<char*>(pattern->payload())));
}

Task* copy_of(Thread* self, Task* pattern) {
  Task* task = rt::new_task(self, pattern->payload_size, pattern->flags);
  task->routine = pattern->routine;
  task->priority = pattern->priority;
  std::memcpy(task->payload(), pattern->payload(), pattern->payload_size);
  kmp_task_t* kmp = kmp_task_of(task);
  task->data = kmp;
  if (kmp->shareds != nullptr)
    kmp->shareds = moved(static_cast<char*>(kmp_task_of(pattern)->shareds), pattern, task);
  return task;
}

// Tasks without private variables that need constructors: copies of the pattern's bytes, but for what is set
// here.
struct PlainLoop {
  char* pattern;  // the payload
  std::uint32_t size, flags;
  std::uint32_t shareds_at, lower_at, upper_at;  // inside the payload; shareds_at 0: none
  rt::TaskRoutine routine;
  TaskloopPlan plan;
  std::uint64_t lower, upper, stride;

  const void* body() const {
    return reinterpret_cast<const void*>(reinterpret_cast<const kmp_task_t*>(pattern)->routine);
  }
  rt::TaskloopName name() const { return {body(), lower, stride, plan.tasks, plan.each}; }
  Task* leaf(Thread* self) const {
    Task* task = rt::new_task(self, size, flags);
    task->routine = routine;
    task->data = task->payload();
    return task;
  }
  void prepare(Task* leaf, std::uint64_t number) const {
    auto* own = static_cast<char*>(leaf->payload());
    std::memcpy(own, pattern, size);
    if (shareds_at != 0) reinterpret_cast<kmp_task_t*>(own)->shareds = own + shareds_at;
    const std::uint64_t next = plan.first_of(number) + plan.size_of(number);
    *reinterpret_cast<std::uint64_t*>(own + lower_at) = lower + plan.first_of(number) * stride;
    *reinterpret_cast<std::uint64_t*>(own + upper_at) =
        number + 1 == plan.tasks ? upper : lower + (next - 1) * stride;
  }
  Task* defer(Thread* self, const rt::TaskRange& range) const;
};

// What a stolen range needs, in front of its copy of the pattern.
struct alignas(hearth::kCacheLine) StolenRange {
  PlainLoop loop;
  rt::TaskRange range;
};

Task* PlainLoop::defer(Thread* self, const rt::TaskRange& range) const {
  Task* task = rt::new_task(self, sizeof(StolenRange) + size, rt::kTaskTied);
  auto* stolen = new (task->payload()) StolenRange{*this, range};
  stolen->loop.pattern = reinterpret_cast<char*>(stolen + 1);
  std::memcpy(stolen->loop.pattern, pattern, size);
  task->function = [](void* data) {
    auto* mine = static_cast<StolenRange*>(data);
    rt::run_stolen_range(mine->loop, mine->range);
  };
  task->data = stolen;
  return task;
}

PlainLoop plain_loop(Task* pattern, const TaskloopPlan& plan, std::uint64_t* lower, std::uint64_t* upper,
                     std::int64_t stride) {
  auto* payload = static_cast<char*>(pattern->payload());
  auto offset = [payload](const void* inside) {
    return inside == nullptr ? 0 : static_cast<std::uint32_t>(static_cast<const char*>(inside) - payload);
  };
  return {payload,
          pattern->payload_size,
          pattern->flags,
          offset(kmp_task_of(pattern)->shareds),
          offset(lower),
          offset(upper),
          pattern->routine,
          plan,
          *lower,
          *upper,
          static_cast<std::uint64_t>(stride)};
}

void taskloop(Thread* self, Task* pattern, bool deferred, std::uint64_t* lower_at, std::uint64_t* upper_at,
              std::int64_t stride, bool grouped, std::int32_t schedule, std::uint64_t amount, bool strict,
              Duplicate duplicate) {
  if (grouped) rt::taskgroup_begin(self);
  hearth::abi::take_priority(pattern);
  const auto footprint = rt::LoopFootprint::of_pattern(pattern);
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
  if (rt::runs_as_ranges(self) && duplicate == nullptr && !pattern->is(rt::kTaskNoDiscard) &&
      pattern->priority == 0) {
    PlainLoop loop = plain_loop(pattern, plan, lower_at, upper_at, stride);
    rt::TaskloopPast past;
    const bool deferrable = deferred && !pattern->is(rt::kTaskFinal);
    if (footprint && deferrable && !rt::runs_at_once_always(self))
      rt::deal_taskloop(self, loop, plan, footprint);
    else
      rt::run_taskloop(self, loop, plan.tasks, deferrable, past);
    hearth::abi::discard_kmp_task(self, pattern);
    if (grouped) rt::taskgroup_end(self);
    return;
  }
  if (rt::events::active()) rt::events::work_begin(self, ompt_work_taskloop, iterations);
  for (std::uint64_t i = 0; i < plan.tasks; ++i) {
    const bool last = i + 1 == plan.tasks;
    const std::uint64_t next = lower + plan.size_of(i) * static_cast<std::uint64_t>(stride);
    Task* task = copy_of(self, pattern);
    *moved(lower_at, pattern, task) = lower;
    *moved(upper_at, pattern, task) = last ? upper : next - static_cast<std::uint64_t>(stride);
    if (footprint) footprint.give(task, plan.first_of(i), plan.size_of(i));
    if (duplicate != nullptr) duplicate(kmp_task_of(task), kmp_task_of(pattern), last);
    if (rt::events::active()) rt::events::set_taskloop_chunk(task, plan.first_of(i), plan.size_of(i));
    if (deferred)
      rt::spawn(self, task);
    else
      rt::run_undeferred(self, task);
    lower = next;
  }
  if (rt::events::active()) rt::events::work_end(self, ompt_work_taskloop, iterations);
  hearth::abi::discard_kmp_task(self, pattern);
  if (grouped) rt::taskgroup_end(self);
}

}  // namespace

HEARTH_EXPORT void __kmpc_taskloop(ident_t*, std::int32_t, kmp_task_t* pattern, std::int32_t if_val,
                                   std::uint64_t* lower, std::uint64_t* upper, std::int64_t stride,
                                   std::int32_t nogroup, std::int32_t schedule, std::uint64_t grainsize,
                                   void* task_dup) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, Task::of_payload(pattern), if_val != 0, lower, upper, stride, nogroup == 0, schedule,
           grainsize, false, reinterpret_cast<Duplicate>(task_dup));
}

HEARTH_EXPORT void __kmpc_taskloop_5(ident_t*, std::int32_t, kmp_task_t* pattern, std::int32_t if_val,
                                     std::uint64_t* lower, std::uint64_t* upper, std::int64_t stride,
                                     std::int32_t nogroup, std::int32_t schedule, std::uint64_t grainsize,
                                     std::int32_t modifier, void* task_dup) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, Task::of_payload(pattern), if_val != 0, lower, upper, stride, nogroup == 0, schedule,
           grainsize, modifier != 0, reinterpret_cast<Duplicate>(task_dup));
}
