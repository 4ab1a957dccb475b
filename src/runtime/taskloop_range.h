// The tasks of a taskloop that are alike, run without a descriptor for each of them.
//
// A thread runs the tasks of a range one after the other, in place and on one descriptor, and leaves the rest of
// the range where others can steal it: halves, each in a task of the runtime's own which the program does not see.
// Halves are split off while a range is long, and again whenever nothing is left to steal (lazy binary splitting:
// Tzannes, Caragea, Barua, Vishkin, PPoPP 2010). So what nobody steals costs little more than a loop, and whoever is
// idle finds work. A loop that took no time worth sharing when it was met last is begun without offering anything. Used by the thread that meets the construct and by those that run the ranges; a range is a task
// and is handed on like any other.
//
// `Loop` is what the two skins differ in:
//   const void* body()                     the outlined function, which tells loops apart
//   Task* leaf(Thread*)                    a descriptor on which tasks are run in place
//   void prepare(Task* leaf, number)       makes it task `number` of the loop
//   Task* defer(Thread*, const TaskRange&) a task, not adopted yet, that calls run_stolen_range() with a copy
#pragma once

#include <cstdint>

#include "runtime/events.h"
#include "runtime/footprint.h"
#include "runtime/taskloop.h"
#include "runtime/tasking.h"

namespace hearth::rt {

struct TaskRange {
  std::uint64_t first = 0, end = 0;
  /// A thread that comes by a longer range offers all but so many tasks before it runs the first.
  std::uint64_t most_hidden = 0;
};

/// Whether a loop that the current task meets may run so: no tool has to be told of each task, and ranges can be stolen.
inline bool runs_as_ranges(Thread* self) { return !events::active() && !self->team->one_queue; }

namespace taskloop {

// What it costs to have a part of a loop stolen and to wait for it, in ticks: some microseconds.
inline constexpr std::uint64_t kWorthSharing = 10'000;
// A thread that is busy with one task hides the rest of its piece, which is why pieces are a small part of a
// thread's share.
inline constexpr std::uint64_t kPiecesPerThread = 16;

/// Runs the tasks of `range` on one descriptor after the other while `go_on(range)` says so.
template <class Loop, class GoOn>
void run_leaves(Thread* self, Loop& loop, TaskRange& range, GoOn go_on) {
  Task* leaf = nullptr;
  while (range.first != range.end && go_on()) {
    if (leaf == nullptr) leaf = loop.leaf(self);
    loop.prepare(leaf, range.first++);
    if (!run_in_place(self, leaf)) leaf = nullptr;
  }
  if (leaf != nullptr) free_task(self, leaf);
}

/// Runs tasks until so much time has passed that the rest may be worth sharing. Returns the ticks of a task.
template <class Loop>
std::uint64_t run_alone(Thread* self, Loop& loop, TaskRange& range) {
  const std::uint64_t begin = ticks();
  std::uint64_t done = 0;
  run_leaves(self, loop, range, [&] {
    const bool look = (done & (done - 1)) == 0;
    ++done;
    return !look || ticks() - begin < kWorthSharing;
  });
  return (ticks() - begin) / range.first;
}

/// `fresh`: new to this thread, which did not split it off itself. Returns the ticks of a task.
template <class Loop>
std::uint64_t run_sharing(Thread* self, Loop& loop, TaskRange range, bool fresh) {
  const std::uint64_t first = range.first;
  auto offer_half = [&] {
    const std::uint64_t middle = range.first + (range.end - range.first + 1) / 2;
    spawn(self, loop.defer(self, {middle, range.end, range.most_hidden}));
    range.end = middle;
  };
  if (fresh)
    while (range.end - range.first > range.most_hidden && !runs_at_once(self)) offer_half();
  const std::uint64_t begin = ticks();
  run_leaves(self, loop, range, [&] {
    if (range.end - range.first > 1 && self->member->deque.looks_empty()) offer_half();
    return true;
  });
  return (ticks() - begin) / (range.end - first);
}

}  // namespace taskloop

/// All tasks of a loop; in this thread alone unless they are `deferrable`.
template <class Loop>
void run_taskloop(Thread* self, Loop& loop, std::uint64_t tasks, bool deferrable) {
  TaskRange range{0, tasks, 0};
  if (tasks == 0) return;
  if (!deferrable || self->team->size == 1 || self->task->is(kTaskFinal)) {
    taskloop::run_leaves(self, loop, range, [] { return true; });
    return;
  }
  LeafCost& cost = self->member->leaf_cost_of(loop.body());
  if (cost.body == loop.body() && cost.ticks * tasks < taskloop::kWorthSharing)
    cost.ticks = taskloop::run_alone(self, loop, range);
  if (range.first != range.end) {
    const std::uint64_t piece = tasks / (taskloop::kPiecesPerThread * static_cast<std::uint64_t>(self->team->size));
    range.most_hidden = piece == 0 ? 1 : piece;
    cost = {loop.body(), taskloop::run_sharing(self, loop, range, true)};
  }
}

/// All tasks of a loop whose footprint is known: pieces that are dealt to where their bytes are, and split further only
/// there.
template <class Loop>
void deal_taskloop(Thread* self, Loop& loop, const TaskloopPlan& plan, const LoopFootprint& footprint) {
  const std::uint64_t piece = plan.tasks / (taskloop::kPiecesPerThread * static_cast<std::uint64_t>(self->team->size)) + 1;
  for (std::uint64_t first = 0; first < plan.tasks; first += piece) {
    const std::uint64_t last = (plan.tasks - first < piece ? plan.tasks : first + piece) - 1;
    Task* range = loop.defer(self, {first, last + 1, piece});
    footprint.give(range, plan.first_of(first), plan.first_of(last) + plan.size_of(last) - plan.first_of(first));
    spawn(self, range);
  }
}

/// The body of a range's own task. It ends when the ranges split off it have: whoever waits for the loop's tasks as
/// its children waits for this one.
template <class Loop>
void run_stolen_range(Loop& loop, const TaskRange& range) {
  Thread* self = Thread::current();
  --self->tasks_served;  // none of the program's
  taskloop::run_sharing(self, loop, range, self->task->home != self);
  taskwait(self);
}

}  // namespace hearth::rt
