// GCC's entry points for taskloop. Any thread of the program.
//
// The argument block begins with the first iteration and the end of the task's share, in the loop's type; with task
// reductions the third word points to them. The bound that a task gets is first + count * step, not cut to the loop's.
#include <cstdint>
#include <cstring>

#include "abi/export.h"
#include "abi/gomp_task.h"
#include "runtime/events.h"
#include "runtime/task_reduction.h"
#include "runtime/taskloop.h"

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
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  return (distance - 1) / stride + 1;
}

std::uint64_t count_iterations_ull(bool up, unsigned long long start, unsigned long long end, unsigned long long step) {
  if (up ? start >= end : start <= end) return 0;
  return up ? (end - start - 1) / step + 1 : (start - end - 1) / (-step) + 1;
}

// Both bounds are 8 bytes wide, and two's complement: one implementation.
void taskloop(Thread* self, GompTask what, unsigned long amount, int priority, std::uint64_t iterations, std::uint64_t start,
              std::uint64_t step) {
  const unsigned flags = what.flags;
  if (HEARTH_UNLIKELY(rt::is_cancelled(self->task))) return;
  if ((flags & hearth::abi::kGompPriority) != 0) what.priority = priority;
  auto* bounds = static_cast<std::uint64_t*>(what.data);
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
  const TaskloopPlan plan =
      rt::plan_taskloop(iterations, clause, amount, (flags & hearth::abi::kGompStrict) != 0, self->team->size);
  const bool deferred = (flags & hearth::abi::kGompIf) != 0;
  for (std::uint64_t i = 0; i < plan.tasks; ++i) {
    const std::uint64_t end = start + plan.size_of(i) * step;
    if (!deferred || (what.priority == 0 && rt::runs_at_once(self))) {
      bounds[0] = start;
      bounds[1] = end;
      hearth::abi::run_gomp_task_here(self, what);
    } else {
      Task* task = hearth::abi::new_gomp_task(self, what);
      auto* own = static_cast<std::uint64_t*>(task->data);
      own[0] = start;
      own[1] = end;
      rt::spawn(self, task);
    }
    start = end;
  }
  if (grouped) rt::taskgroup_end(self);
}

}  // namespace

HEARTH_EXPORT void GOMP_taskloop(void (*fn)(void*), void* data, void (*cpyfn)(void*, void*), long arg_size, long arg_align,
                                 unsigned flags, unsigned long num_tasks, int priority, long start, long end, long step) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, GompTask{fn, data, cpyfn, arg_size, arg_align, flags}, num_tasks, priority, count_iterations(start, end, step),
           static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(step));
}

HEARTH_EXPORT void GOMP_taskloop_ull(void (*fn)(void*), void* data, void (*cpyfn)(void*, void*), long arg_size, long arg_align,
                                     unsigned flags, unsigned long num_tasks, int priority, unsigned long long start,
                                     unsigned long long end, unsigned long long step) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, GompTask{fn, data, cpyfn, arg_size, arg_align, flags}, num_tasks, priority,
           count_iterations_ull((flags & hearth::abi::kGompUp) != 0, start, end, step), start, step);
}
