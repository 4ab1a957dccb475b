// The tasks of a taskloop that are alike, run without a descriptor for each of them.
//
// A thread runs the tasks of a range one after the other, in place and on one descriptor, and leaves the rest
// of the range where others can steal it: halves, each in a task of the runtime's own which the program does
// not see. Halves are split off while a range is long, and again whenever nothing is left to steal (lazy
// binary splitting: Tzannes, Caragea, Barua, Vishkin, PPoPP 2010). So what nobody steals costs little more
// than a loop, and whoever is idle finds work. A loop that took no time worth sharing when it was met last is
// begun without offering anything. Used by the thread that meets the construct and by those that run the
// ranges; a range is a task and is handed on like any other.
//
// A team on several locations remembers where the tasks ran (loop_affinity.h) and deals the loop's ranges to
// these locations' inboxes the next time; each is split further only by those who run it.
//
// `Loop` is what the two skins differ in:
//   const void* body()                     the outlined function, which tells loops apart
//   Task* leaf(Thread*)                    a descriptor on which tasks are run in place
//   void prepare(Task* leaf, number)       makes it task `number` of the loop
//   TaskloopName name()                    what tells the loop from others
//   Task* defer(Thread*, const TaskRange&) a task, not adopted yet, that calls run_stolen_range() with a copy
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "policy/tuning.h"

#include "runtime/task/undeferred.h"
#include "runtime/tools/events.h"
#include "runtime/locality/footprint.h"
#include "runtime/loop/loop_affinity.h"
#include "runtime/task/create.h"
#include "runtime/task/ready.h"
#include "runtime/task/wait.h"
#include "runtime/loop/taskloop.h"

namespace hearth::rt {

struct TaskRange {
  std::uint64_t first = 0, end = 0;
  /// A thread that comes by a longer range offers all but so many tasks before it runs the first.
  std::uint64_t most_hidden = 0;
  RememberedTaskloop* past = nullptr;  // where its tasks ran is kept there
};

/// What is remembered of a taskloop, while the construct lasts.
class TaskloopPast {
 public:
  TaskloopPast() = default;
  TaskloopPast(const TaskloopPast&) = delete;
  TaskloopPast& operator=(const TaskloopPast&) = delete;
  ~TaskloopPast() {
    // Pairs with the acquire in remember_taskloop().
    if (HEARTH_UNLIKELY(past_ != nullptr)) past_->in_use.store(false, std::memory_order_release);
  }
  RememberedTaskloop* begin(Thread* self, const TaskloopName& name) {
    return past_ = remember_taskloop(self, name);
  }

 private:
  RememberedTaskloop* past_ = nullptr;
};

/// Whether a loop that the current task meets may run so: no tool has to be told of each task, and ranges can
/// be stolen.
inline bool runs_as_ranges(Thread* self) { return !events::tells_each_task() && !self->team->one_queue; }

namespace taskloop {

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
  const std::uint64_t begin = ticks(), worth_sharing = to_ticks(tuning::kWorthSharingNs);
  std::uint64_t done = 0;
  run_leaves(self, loop, range, [&] {
    // One at least, or there is nothing to divide by: this thread may lose its CPU right here.
    const bool look = done != 0 && (done & (done - 1)) == 0;
    ++done;
    return !look || ticks() - begin < worth_sharing;
  });
  return (ticks() - begin) / range.first;
}

/// `fresh`: new to this thread, which did not split it off itself. `about_to_run` hears of each task's
/// number. Returns the ticks of a task.
template <class Loop, class AboutToRun>
std::uint64_t run_sharing(Thread* self, Loop& loop, TaskRange range, bool fresh, AboutToRun about_to_run) {
  const std::uint64_t first = range.first;
  auto offer_half = [&] {
    const std::uint64_t middle = range.first + (range.end - range.first + 1) / 2;
    spawn(self, loop.defer(self, {middle, range.end, range.most_hidden, range.past}));
    range.end = middle;
  };
  if (fresh)
    while (range.end - range.first > range.most_hidden && !runs_at_once(self, 0)) offer_half();
  const std::uint64_t begin = ticks();
  run_leaves(self, loop, range, [&] {
    if (range.end - range.first > 1 && self->member->deque.looks_empty()) offer_half();
    about_to_run(range.first);
    return true;
  });
  return (ticks() - begin) / (range.end - first);
}

/// Ranges of tasks that belong to one location go there. As many as their dealing is worth: whoever steals a
/// location takes one of them.
template <class Loop>
void deal_remembered(Thread* self, Loop& loop, TaskRange rest, std::uint64_t tasks) {
  const RememberedTaskloop& past = *rest.past;
  const auto members = static_cast<std::uint64_t>(self->team->size);
  const std::uint64_t ticks = past.ticks.load(std::memory_order_relaxed) * tasks;
  std::uint64_t ranges = ticks == 0 ? 4 * members : ticks / to_ticks(tuning::kWorthSharingNs);
  if (ranges < members) ranges = members;
  if (ranges > tuning::kPiecesPerThread * members) ranges = tuning::kPiecesPerThread * members;
  const std::uint64_t longest = (tasks + ranges - 1) / ranges;
  std::uint64_t part = RememberedTaskloop::part_of(tasks, rest.first);
  while (rest.first != rest.end) {
    const Location home = past.home_of(self->team, tasks, part);
    std::uint64_t end = RememberedTaskloop::part(tasks, part).end;
    while (end != rest.end && past.home_of(self->team, tasks, ++part) == home && end - rest.first < longest)
      end = RememberedTaskloop::part(tasks, part).end;
    Task* range = loop.defer(self, {rest.first, end, longest, rest.past});
    adopt(self, range);
    enqueue_at(self, range, home);
    rest.first = end;
  }
}

template <class Loop>
void run_remembering(Thread* self, Loop& loop, const TaskRange& range) {
  const std::uint64_t tasks = loop.name().tasks;
  std::uint64_t next_part = range.first;
  // Fresh even to the thread that has dealt it.
  const std::uint64_t ticks = run_sharing(self, loop, range, true, [&](std::uint64_t task) {
    if (HEARTH_LIKELY(task < next_part)) return;
    const std::uint64_t number = RememberedTaskloop::part_of(tasks, task);
    const Block part = RememberedTaskloop::part(tasks, number);
    next_part = part.end;
    if (task == part.first)
      range.past->runs(self->team, tasks, number, self->member->location.load(std::memory_order_relaxed));
  });
  range.past->ticks.store(ticks == 0 ? 1 : ticks, std::memory_order_relaxed);
}

}  // namespace taskloop

/// All tasks of a loop; in this thread alone unless they are `deferrable`. `past` lasts until the construct
/// ends.
template <class Loop>
void run_taskloop(Thread* self, Loop& loop, std::uint64_t tasks, bool deferrable, TaskloopPast& past) {
  TaskRange range{0, tasks, 0};
  if (tasks == 0) return;
  if (!deferrable || self->team->size == 1 || self->task->is(kTaskFinal)) {
    taskloop::run_leaves(self, loop, range, [] { return true; });
    return;
  }
  LeafCost& cost = self->member->leaf_cost_of(loop.body());
  if (cost.body == loop.body() && cost.ticks * tasks < to_ticks(tuning::kWorthSharingNs))
    cost.ticks = taskloop::run_alone(self, loop, range);
  if (range.first != range.end) {
    const std::uint64_t piece = tasks / (tuning::kPiecesPerThread * static_cast<std::uint64_t>(self->team->size));
    range.most_hidden = piece == 0 ? 1 : piece;
    if (HEARTH_UNLIKELY(self->team->locality != nullptr) &&
        (range.past = past.begin(self, loop.name())) != nullptr) {
      const std::uint64_t before = range.past->ticks.load(std::memory_order_relaxed);
      if (before != 0) cost = {loop.body(), before};
      taskloop::deal_remembered(self, loop, range, tasks);
      return;
    }
    cost = {loop.body(), taskloop::run_sharing(self, loop, range, true, [](std::uint64_t) {})};
  }
}

/// All tasks of a loop whose footprint is known: pieces that are dealt to where their bytes are, and split
/// further only there.
template <class Loop>
void deal_taskloop(Thread* self, Loop& loop, const TaskloopPlan& plan, const LoopFootprint& footprint) {
  const std::uint64_t piece = plan.tasks / (tuning::kPiecesPerThread * static_cast<std::uint64_t>(self->team->size)) +
                              1;
  for (std::uint64_t first = 0; first < plan.tasks; first += piece) {
    const std::uint64_t last = (plan.tasks - first < piece ? plan.tasks : first + piece) - 1;
    Task* range = loop.defer(self, {first, last + 1, piece});
    footprint.give(range, plan.first_of(first),
                   plan.first_of(last) + plan.size_of(last) - plan.first_of(first));
    spawn(self, range);
  }
}

/// The body of a range's own task. It ends when the ranges split off it have: whoever waits for the loop's
/// tasks as its children waits for this one.
template <class Loop>
void run_stolen_range(Loop& loop, const TaskRange& range) {
  Thread* self = Thread::current();
  LiveLine::add(self->live->tasks_run, std::uint64_t(-1));  // none of the program's
  if (HEARTH_UNLIKELY(range.past != nullptr))
    taskloop::run_remembering(self, loop, range);
  else
    taskloop::run_sharing(self, loop, range, self->task->home != self, [](std::uint64_t) {});
  taskwait(self);
}

}  // namespace hearth::rt
