// GCC's entry points for taskloop. Any thread of the program.
//
// The argument block begins with the first iteration and the end of the task's share, in the loop's type;
// with task reductions the third word points to them. The bound that a task gets is first + count * step, not
// cut to the loop's.
#include <cstdint>
#include <cstring>

#include "abi/export.h"
#include "abi/gomp/task.h"
#include "runtime/loop/taskloop_construct.h"
#include "runtime/state/cancelled.h"
#include "runtime/task/create.h"
#include "runtime/task/task_reduction.h"
#include "runtime/task/undeferred.h"
#include "runtime/tools/events.h"

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

// Tasks without copy constructors: their argument blocks differ in the bounds alone.
struct PlainLoop {
  void (*function)(void*);  // first: kTaskRange
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
  Task* task = rt::new_task(self, sizeof(StolenRange) + block_size, rt::kTaskTied | rt::kTaskRange);
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

// gcc's tasks for run_taskloop_construct().
struct Skin {
  const GompTask& what;
  const rt::LoopFootprint& footprint;
  std::uint64_t start, step;
  bool deferred;

  std::uint64_t* bounds() const { return static_cast<std::uint64_t*>(what.data); }

  void begin_group(Thread* self) const {
    if ((what.flags & hearth::abi::kGompReduction) != 0)
      rt::register_gomp_reductions(self, reinterpret_cast<std::uintptr_t*>(bounds()[2]));
  }
  PlainLoop as_loop(const TaskloopPlan& plan) const {
    return {what.function,
            static_cast<char*>(what.data),
            static_cast<std::size_t>(what.arg_size),
            what.task_flags(),
            plan,
            start,
            step};
  }
  bool runs_here(Thread* self) const {
    if (!deferred) return true;
    const bool may_be_dealt = footprint && self->team->locality != nullptr;
    return what.priority == 0 && (may_be_dealt ? rt::runs_at_once_always(self)
                                                : rt::runs_at_once(self, static_cast<std::size_t>(what.arg_size)));
  }
  void create(Thread* self, const TaskloopPlan& plan, std::uint64_t number) const {
    const std::uint64_t begin = start + plan.first_of(number) * step;
    const std::uint64_t end = begin + plan.size_of(number) * step;
    const bool here = runs_here(self);
    if (here && what.copy == nullptr && !rt::events::active()) {
      bounds()[0] = begin;
      bounds()[1] = end;
      hearth::abi::run_gomp_task_here(self, what);
      return;
    }
    // The compiler's copy function leaves the bounds out.
    Task* task = hearth::abi::new_gomp_task(self, what);
    auto* own = static_cast<std::uint64_t*>(task->data);
    own[0] = begin;
    own[1] = end;
    if (footprint) footprint.give(task, plan.first_of(number), plan.size_of(number));
    if (rt::events::active()) rt::events::set_taskloop_chunk(task, plan.first_of(number), plan.size_of(number));
    if (here)
      rt::run_undeferred(self, task);
    else
      rt::spawn(self, task);
  }
  void end(Thread*) const {}
};

// Both bounds are 8 bytes wide, and two's complement: one implementation.
void taskloop(Thread* self, GompTask what, unsigned long amount, int priority, std::uint64_t iterations,
              std::uint64_t start, std::uint64_t step) {
  const unsigned flags = what.flags;
  if (HEARTH_UNLIKELY(rt::is_cancelled(self->task))) return;
  if ((flags & hearth::abi::kGompPriority) != 0) what.priority = priority;
  rt::TaskloopRequest request;
  request.iterations = iterations;
  if ((flags & hearth::abi::kGompGrainsize) != 0)
    request.clause = TaskloopPlan::Clause::grainsize;
  else if (amount != 0)
    request.clause = TaskloopPlan::Clause::num_tasks;
  request.amount = amount;
  request.strict = (flags & hearth::abi::kGompStrict) != 0;
  request.grouped = (flags & hearth::abi::kGompNogroup) == 0;
  request.deferred = (flags & hearth::abi::kGompIf) != 0;
  request.final_ = (flags & hearth::abi::kGompFinal) != 0;
  request.alike = what.priority == 0 && what.copy == nullptr && what.arg_align <= static_cast<long>(hearth::kCacheLine);
  const auto footprint = rt::LoopFootprint::announced_by(self->task);
  Skin skin{what, footprint, start, step, request.deferred};
  rt::run_taskloop_construct(self, skin, request, footprint);
}

}  // namespace

HEARTH_EXPORT void GOMP_taskloop(void (*fn)(void*), void* data, void (*cpyfn)(void*, void*), long arg_size,
                                 long arg_align, unsigned flags, unsigned long num_tasks, int priority, long start,
                                 long end, long step) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, GompTask{fn, data, cpyfn, arg_size, arg_align, flags}, num_tasks, priority,
           count_iterations(start, end, step), static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(step));
}

HEARTH_EXPORT void GOMP_taskloop_ull(void (*fn)(void*), void* data, void (*cpyfn)(void*, void*), long arg_size,
                                     long arg_align, unsigned flags, unsigned long num_tasks, int priority,
                                     unsigned long long start, unsigned long long end, unsigned long long step) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  taskloop(self, GompTask{fn, data, cpyfn, arg_size, arg_align, flags}, num_tasks, priority,
           count_iterations_ull((flags & hearth::abi::kGompUp) != 0, start, end, step), start, step);
}
