// Clang's entry points for taskloop. Any thread of the program.
//
// Clang hands over one task as a pattern, with its bounds (inclusive) inside. Each share is a copy of the
// pattern: what points into it (shareds, bounds) is moved along, then `task_dup` makes the copy's private
// variables. The pattern is never run.
#include <cstdint>
#include <cstring>

#include "abi/export.h"
#include "abi/kmpc/task.h"
#include "runtime/loop/taskloop_construct.h"
#include "runtime/task/create.h"
#include "runtime/task/undeferred.h"
#include "runtime/tools/events.h"

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
  task->priority = pattern->priority;
  std::memcpy(task->payload(), pattern->payload(), pattern->payload_size);
  kmp_task_t* kmp = kmp_task_of(task);
  task->data = kmp;
  if (kmp->shareds != nullptr) kmp->shareds = moved(static_cast<char*>(kmp_task_of(pattern)->shareds), pattern, task);
  return task;
}

// Tasks without private variables that need constructors: copies of the pattern's bytes, but for what is set
// here.
struct PlainLoop {
  const void* function;  // the program's; first: kTaskRange
  char* pattern;         // the payload
  std::uint32_t size, flags;
  std::uint32_t shareds_at, lower_at, upper_at;  // inside the payload; shareds_at 0: none
  rt::TaskRoutine routine;
  TaskloopPlan plan;
  std::uint64_t lower, upper, stride;

  const void* body() const { return function; }
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
    *reinterpret_cast<std::uint64_t*>(own + upper_at) = number + 1 == plan.tasks ? upper : lower + (next - 1) * stride;
  }
  Task* defer(Thread* self, const rt::TaskRange& range) const;
};

// What a stolen range needs, in front of its copy of the pattern.
struct alignas(hearth::kCacheLine) StolenRange {
  PlainLoop loop;
  rt::TaskRange range;
};

Task* PlainLoop::defer(Thread* self, const rt::TaskRange& range) const {
  Task* task = rt::new_task(self, sizeof(StolenRange) + size, rt::kTaskTied | rt::kTaskRange);
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
  return {pattern->function_of_program(),
          payload,
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

// Clang's tasks for run_taskloop_construct().
struct Skin {
  Task* pattern;
  const rt::LoopFootprint& footprint;
  std::uint64_t* lower_at;  // inside the pattern
  std::uint64_t* upper_at;
  std::int64_t stride;
  Duplicate duplicate;
  bool deferred;
  std::uint64_t lower, upper;

  void begin_group(Thread*) const {}
  PlainLoop as_loop(const TaskloopPlan& plan) const { return plain_loop(pattern, plan, lower_at, upper_at, stride); }
  void create(Thread* self, const TaskloopPlan& plan, std::uint64_t number) {
    const bool last = number + 1 == plan.tasks;
    const std::uint64_t next = lower + plan.size_of(number) * static_cast<std::uint64_t>(stride);
    Task* task = copy_of(self, pattern);
    *moved(lower_at, pattern, task) = lower;
    *moved(upper_at, pattern, task) = last ? upper : next - static_cast<std::uint64_t>(stride);
    if (footprint) footprint.give(task, plan.first_of(number), plan.size_of(number));
    if (duplicate != nullptr) duplicate(kmp_task_of(task), kmp_task_of(pattern), last);
    if (rt::events::active()) rt::events::set_taskloop_chunk(task, plan.first_of(number), plan.size_of(number));
    if (deferred)
      rt::spawn(self, task);
    else
      rt::run_undeferred(self, task);
    lower = next;
  }
  void end(Thread* self) const { hearth::abi::discard_kmp_task(self, pattern); }
};

std::uint64_t count_iterations(std::uint64_t lower, std::uint64_t upper, std::int64_t stride) {
  const auto from = static_cast<std::int64_t>(lower), to = static_cast<std::int64_t>(upper);
  if (stride > 0 && from <= to) return (upper - lower) / static_cast<std::uint64_t>(stride) + 1;
  if (stride < 0 && from >= to) return (lower - upper) / -static_cast<std::uint64_t>(stride) + 1;
  return 0;
}

void taskloop(Thread* self, Task* pattern, bool deferred, std::uint64_t* lower, std::uint64_t* upper,
              std::int64_t stride, bool grouped, std::int32_t schedule, std::uint64_t amount, bool strict,
              Duplicate duplicate) {
  constexpr std::int32_t kGrainsize = 1, kNumTasks = 2;
  hearth::abi::take_priority(pattern);
  rt::TaskloopRequest request;
  request.iterations = count_iterations(*lower, *upper, stride);
  request.clause = schedule == kGrainsize  ? TaskloopPlan::Clause::grainsize
                   : schedule == kNumTasks ? TaskloopPlan::Clause::num_tasks
                                           : TaskloopPlan::Clause::none;
  request.amount = amount;
  request.strict = strict;
  request.grouped = grouped;
  request.deferred = deferred;
  request.final_ = pattern->is(rt::kTaskFinal);
  request.alike = duplicate == nullptr && !pattern->is(rt::kTaskNoDiscard) && pattern->priority == 0;
  const auto footprint = rt::LoopFootprint::of_pattern(pattern);
  Skin skin{pattern, footprint, lower, upper, stride, duplicate, deferred, *lower, *upper};
  rt::run_taskloop_construct(self, skin, request, footprint);
}

}  // namespace

HEARTH_EXPORT void __kmpc_taskloop(ident_t*, std::int32_t, kmp_task_t* pattern, std::int32_t if_val,
                                   std::uint64_t* lower, std::uint64_t* upper, std::int64_t stride,
                                   std::int32_t nogroup, std::int32_t schedule, std::uint64_t grainsize,
                                   void* task_dup) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, Task::of_payload(pattern), if_val != 0, lower, upper, stride, nogroup == 0, schedule, grainsize, false,
           reinterpret_cast<Duplicate>(task_dup));
}

HEARTH_EXPORT void __kmpc_taskloop_5(ident_t*, std::int32_t, kmp_task_t* pattern, std::int32_t if_val,
                                     std::uint64_t* lower, std::uint64_t* upper, std::int64_t stride,
                                     std::int32_t nogroup, std::int32_t schedule, std::uint64_t grainsize,
                                     std::int32_t modifier, void* task_dup) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, Task::of_payload(pattern), if_val != 0, lower, upper, stride, nogroup == 0, schedule, grainsize,
           modifier != 0, reinterpret_cast<Duplicate>(task_dup));
}
