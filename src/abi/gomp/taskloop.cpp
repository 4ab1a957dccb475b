// GCC's entry points for taskloop. Any thread of the program.
//
// The argument block begins with the first iteration and the end of the task's share, in the loop's type;
// with task reductions the third word points to them. The bound that a task gets is first + count * step, not
// cut to the loop's.
#include <cstdint>
#include <cstring>

#include "abi/export.h"
#include "abi/gomp/task.h"
#include "runtime/task/create.h"
#include "runtime/task/ready.h"
#include "runtime/state/cancelled.h"
#include "runtime/task/undeferred.h"
#include "runtime/task/taskgroup.h"
#include "runtime/tools/events.h"
#include "runtime/task/task_reduction.h"
#include "runtime/loop/taskloop.h"
#include "runtime/loop/taskloop_range.h"

namespace rt = hearth::rt;
using hearth::abi::GompTask;
using rt::Task;
using rt::TaskloopPlan;
using rt::Thread;

namespace {

std::uint64_t count_iterations(long start, long end, long step) {
  if (step > 0 ? start >= end : start <= end) return 0;
  const auto distance = step > 0 ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start)
                                 : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(end);
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  return (distance - 1) / stride + 1;
}

std::uint64_t count_iterations_ull(bool up, unsigned long long start, unsigned long long end,
                                   unsigned long long step) {
  if (up ? start >= end : start <= end) return 0;
  return up ? (end - start - 1) / step + 1 : (start - end - 1) / (-step) + 1;
}

// Tasks without copy constructors: their argument blocks differ in the bounds alone.
struct PlainLoop {
  void (*function)(void*);
  char* block;
  std::size_t block_size;
  std::uint32_t task_flags;
  TaskloopPlan plan;
  std::uint64_t start, step;

  const void* body() const { return reinterpret_cast<const void*>(function); }
  rt::TaskloopName name() const { return {body(), start, step, plan.tasks, plan.each}; }
  Task* leaf(Thread* self) const {
    Task* task = rt::new_task(self, 0, task_flags);
    task->function = function;
    task->data = block;
    return task;
  }
  void prepare(Task*, std::uint64_t number) const {
    auto* bounds = reinterpret_cast<std::uint64_t*>(block);
    bounds[0] = start + plan.first_of(number) * step;
    bounds[1] = bounds[0] + plan.size_of(number) * step;
  }
  Task* defer(Thread* self, const rt::TaskRange& range) const;
};

// What a stolen range needs, in front of its copy of the argument block.
struct alignas(hearth::kCacheLine) StolenRange {
  PlainLoop loop;
  rt::TaskRange range;
};

Task* PlainLoop::defer(Thread* self, const rt::TaskRange& range) const {
  Task* task = rt::new_task(self, sizeof(StolenRange) + block_size, rt::kTaskTied);
  auto* stolen = new (task->payload()) StolenRange{*this, range};
  stolen->loop.block = reinterpret_cast<char*>(stolen + 1);
  std::memcpy(stolen->loop.block, block, block_size);
  task->function = [](void* data) {
    auto* mine = static_cast<StolenRange*>(data);
    rt::run_stolen_range(mine->loop, mine->range);
  };
  task->data = stolen;
  return task;
}

// Both bounds are 8 bytes wide, and two's complement: one implementation.
void taskloop(Thread* self, GompTask what, unsigned long amount, int priority, std::uint64_t iterations,
              std::uint64_t start, std::uint64_t step) {
  const unsigned flags = what.flags;
  if (HEARTH_UNLIKELY(rt::is_cancelled(self->task))) return;
  if ((flags & hearth::abi::kGompPriority) != 0) what.priority = priority;
  auto* bounds = static_cast<std::uint64_t*>(what.data);
  const auto footprint = rt::LoopFootprint::announced_by(self->task);
  const bool grouped = (flags & hearth::abi::kGompNogroup) == 0;
  if (grouped) {
    rt::taskgroup_begin(self);
    if ((flags & hearth::abi::kGompReduction) != 0)
      rt::register_gomp_reductions(self, reinterpret_cast<std::uintptr_t*>(bounds[2]));
  }

  auto clause = TaskloopPlan::Clause::none;
  if ((flags & hearth::abi::kGompGrainsize) != 0)
    clause = TaskloopPlan::Clause::grainsize;
  else if (amount != 0)
    clause = TaskloopPlan::Clause::num_tasks;
  const TaskloopPlan plan = rt::plan_taskloop(iterations, clause, amount,
                                              (flags & hearth::abi::kGompStrict) != 0, self->team->size);
  const bool deferred = (flags & hearth::abi::kGompIf) != 0;
  if (rt::runs_as_ranges(self) && what.priority == 0 && what.copy == nullptr &&
      what.arg_align <= static_cast<long>(hearth::kCacheLine)) {
    PlainLoop loop{what.function,
                   static_cast<char*>(what.data),
                   static_cast<std::size_t>(what.arg_size),
                   what.task_flags(),
                   plan,
                   start,
                   step};
    rt::TaskloopPast past;
    const bool deferrable = deferred && (flags & hearth::abi::kGompFinal) == 0;
    if (footprint && deferrable && !rt::runs_at_once_always(self))
      rt::deal_taskloop(self, loop, plan, footprint);
    else
      rt::run_taskloop(self, loop, plan.tasks, deferrable, past);
    if (grouped) rt::taskgroup_end(self);
    return;
  }
  if (rt::events::active()) rt::events::work_begin(self, ompt_work_taskloop, iterations);
  for (std::uint64_t i = 0; i < plan.tasks; ++i) {
    const std::uint64_t end = start + plan.size_of(i) * step;
    const bool dealt = footprint && self->team->locality != nullptr;
    const bool here =
        !deferred || (what.priority == 0 && (dealt ? rt::runs_at_once_always(self)
                                                   : rt::runs_at_once(self, static_cast<std::size_t>(what.arg_size))));
    if (here && what.copy == nullptr && !rt::events::active()) {
      bounds[0] = start;
      bounds[1] = end;
      hearth::abi::run_gomp_task_here(self, what);
    } else {
      // The compiler's copy function leaves the bounds out.
      Task* task = hearth::abi::new_gomp_task(self, what);
      auto* own = static_cast<std::uint64_t*>(task->data);
      own[0] = start;
      own[1] = end;
      if (footprint) footprint.give(task, plan.first_of(i), plan.size_of(i));
      if (rt::events::active()) rt::events::set_taskloop_chunk(task, plan.first_of(i), plan.size_of(i));
      if (here)
        rt::run_undeferred(self, task);
      else
        rt::spawn(self, task);
    }
    start = end;
  }
  if (rt::events::active()) rt::events::work_end(self, ompt_work_taskloop, iterations);
  if (grouped) rt::taskgroup_end(self);
}

}  // namespace

HEARTH_EXPORT void GOMP_taskloop(void (*fn)(void*), void* data, void (*cpyfn)(void*, void*), long arg_size,
                                 long arg_align, unsigned flags, unsigned long num_tasks, int priority,
                                 long start, long end, long step) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, GompTask{fn, data, cpyfn, arg_size, arg_align, flags}, num_tasks, priority,
           count_iterations(start, end, step), static_cast<std::uint64_t>(start),
           static_cast<std::uint64_t>(step));
}

HEARTH_EXPORT void GOMP_taskloop_ull(void (*fn)(void*), void* data, void (*cpyfn)(void*, void*),
                                     long arg_size, long arg_align, unsigned flags, unsigned long num_tasks,
                                     int priority, unsigned long long start, unsigned long long end,
                                     unsigned long long step) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, GompTask{fn, data, cpyfn, arg_size, arg_align, flags}, num_tasks, priority,
           count_iterations_ull((flags & hearth::abi::kGompUp) != 0, start, end, step), start, step);
}
