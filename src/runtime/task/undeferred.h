// Undeferred and included tasks: they run here and now, and their creator waits for them.
//
// Called by the thread `self` on its own behalf. Such a task is counted as a child only if somebody could tell the difference.
#pragma once

#include "runtime/state/cancelled.h"
#include "runtime/state/thread.h"
#include "runtime/task/finish.h"
#include "runtime/task/run.h"
#include "runtime/tools/events.h"

namespace hearth::rt {

/// Run a new task here and now, and wait for its event if it has one: an undeferred or included task. True:
/// it is over, and its descriptor is as before and may be run again, or freed. False: the descriptor is not
/// the caller's any more.
inline bool run_in_place(Thread* self, Task* task);
inline void run_undeferred(Thread* self, Task* task) {
  if (HEARTH_LIKELY(run_in_place(self, task))) free_task(self, task);
}
/// run_undeferred() in two halves, for code that calls the body itself.
void begin_undeferred(Thread* self, Task* task);
void end_undeferred(Thread* self, Task* task);

/// An undeferred task ends before its parent goes on, so its parent need not count it, unless some of its
/// descendants are still to complete; or unless an event gives it a life of its own.
inline bool runs_uncounted(const Task* task) { return !task->is(kTaskDetachable | kTaskProxy | kTaskHasDepend); }
/// The rest of run_in_place() for tasks that are counted from the start, and for those that tools are told of.
bool run_in_place_slowly(Thread* self, Task* task);
/// The same for those that leave something behind.
bool end_in_place_slowly(Thread* self, Task* task);

inline bool run_in_place(Thread* self, Task* task) {
  if (HEARTH_UNLIKELY(!runs_uncounted(task)) || events::active()) return run_in_place_slowly(self, task);
  Task* const outer = self->task;
  task->children.open(self);
  self->task = task;
  self->serve_task();
  if (HEARTH_LIKELY(!is_cancelled(task)) || task->is(kTaskNoDiscard)) run_body(self, task);
  self->task = outer;
  if (HEARTH_UNLIKELY(task->children.spawned != 0) || HEARTH_UNLIKELY(has_belongings(task)))
    return end_in_place_slowly(self, task);
  return true;
}

}  // namespace hearth::rt
