// Tasks: create, deal, find, run, finish. The hot path of the runtime: allocate_task -> spawn -> find_task ->
// run_task.
//
// Everything is called by the thread `self` on its own behalf. spawn() and find_task() take no lock and write
// no line that other threads write, unless tasks are stolen.
#pragma once

#include "runtime/tools/events.h"
#include "runtime/locality/footprint.h"
#include "runtime/state/process.h"
#include "runtime/state/thread.h"
#include "runtime/sync/wait.h"

namespace hearth::rt {

/// A new child of the current task, not yet counted or queued: fields set, function and data left to the
/// caller. `flags` are TaskFlags. Never null: when memory is refused the process is told and stopped.
inline Task* new_task(Thread* self, std::size_t payload, std::uint32_t flags) {
  Task* parent = self->task;
  Task* task = allocate_task(self, payload);
  task->parent.store(parent, std::memory_order_relaxed);
  task->depth.store(parent->depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // A final task's descendants are final and included (OpenMP 5.2, section 12.3).
  task->flags = flags | (parent->flags & kTaskFinal);
  task->team = self->team;
  task->icvs = parent->icvs;
  task->group = parent->group;
  task->children.spawned = 0;
  task->priority = 0;
  task->depends = nullptr;
  if (HEARTH_UNLIKELY((flags & (kTaskDetachable | kTaskProxy)) != 0))
    task->detach_state.store(kDetachRunning, std::memory_order_relaxed);
  if (HEARTH_UNLIKELY(parent->is(kTaskAnnounced))) take_announced(parent, task);
  return task;
}

/// Count the task as a child of its parent. Before its dependences are looked at, and before spawn_ready() or
/// run_task().
void adopt(Thread* self, Task* task);
/// Make an adopted task available to the team (or run it at once: cut-off, team of one, final).
void make_ready(Thread* self, Task* task);
/// adopt() and make_ready().
inline void spawn(Thread* self, Task* task) {
  adopt(self, task);
  make_ready(self, task);
}
/// Whether a new deferrable task of the current task would run at once: nobody else is there, the current
/// task is final, or enough tasks wait already (cut-off). Its data then need no copy.
bool runs_at_once(Thread* self);
/// For a thread that has made a task with dependences, in a team with a neighbourhood: others that wait at
/// the thread's location may run here and now, sooner if the new one is not ready.
[[gnu::cold]] void help_own_location(Thread* self, bool ready);
/// Queue without cut-off: for tasks of this team that a completion made ready.
void enqueue(Thread* self, Task* task);
/// The same for a task without footprint that belongs to a location of a team with a neighbourhood; unknown:
/// to none.
void enqueue_at(Thread* self, Task* task, placement::Location where);
/// The same when the caller's place in the task tree says nothing about the task's: another team's, or made
/// ready by an event. In the caller's deque it could bury tasks that the caller waits for.
void enqueue_anywhere(Task* task);

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

/// Execute a claimed (or undeferred) task here and now.
void run_task(Thread* self, Task* task);
/// The body has ended (or the detach event is fulfilled, `by_event`): release dependences, count, recycle.
/// `self` may be any thread.
void finish_task(Thread* self, Task* task, bool by_event = false);

/// A task that was made and will never be adopted.
void discard_task(Thread* self, Task* task);

/// Find and run one task of the team; any task in a barrier, else only descendants of the current task. The
/// last look before the thread sleeps goes everywhere; others may leave far queues alone. Who waits for
/// descendants never finds it too soon.
Look help_team(Thread* self, bool last_look);
Look help_descendants(Thread* self, const Task* ancestor, bool last_look);
/// For a worker that has joined and waits for the next region, `seen_go` being the fork word it has answered.
Look help_between_regions(Thread* self, std::uint64_t seen_go, bool last_look);

void taskwait(Thread* self);
void taskyield(Thread* self);
Taskgroup* taskgroup_begin(Thread* self);
void taskgroup_end(Thread* self);

/// Whether any taskgroup around `task`, or its parallel region, has been cancelled.
inline bool is_cancelled(const Task* task) {
  if (HEARTH_UNLIKELY(task->team->cancel.load(std::memory_order_relaxed) != 0)) return true;
  for (const Taskgroup* group = task->group; group != nullptr; group = group->outer)
    if (HEARTH_UNLIKELY(group->cancelled.load(std::memory_order_relaxed))) return true;
  return false;
}

/// The task's own ICVs, made writable.
Icvs& own_icvs(Thread* self);

/// Start an implicit task in a member's slot.
void begin_implicit_task(Thread* self, Member* member);

/// Whatever the task's clauses say.
inline bool runs_at_once_always(Thread* self) { return self->team->size == 1 || self->task->is(kTaskFinal); }

inline bool runs_at_once(Thread* self) {
  return runs_at_once_always(self) ||
         (process.task_cutoff != 0 && self->member->deque.depth(process.task_cutoff) >= process.task_cutoff);
}

inline void run_body(Thread* self, Task* task) {
  if (task->is(kTaskKmp))
    task->routine(self->gtid, task->data);
  else
    task->function(task->data);
}

/// What a task owns besides its descriptor.
inline bool has_belongings(const Task* task) {
  return task->is(kTaskOwnsIcvs | kTaskFootprint | kTaskAnnounced) || task->depends != nullptr;
}

/// An undeferred task ends before its parent goes on, so its parent need not count it, unless some of its
/// descendants are still to complete; or unless tools are told of the creation, or an event gives it a life
/// of its own.
inline bool runs_uncounted(const Task* task) {
  return !events::active() && !task->is(kTaskDetachable | kTaskProxy | kTaskHasDepend);
}
/// The rest of run_in_place() for tasks that are counted from the start, and for those that leave something
/// behind.
bool run_in_place_counted(Thread* self, Task* task);
bool end_in_place_slowly(Thread* self, Task* task);

inline bool run_in_place(Thread* self, Task* task) {
  if (HEARTH_UNLIKELY(!runs_uncounted(task))) return run_in_place_counted(self, task);
  Task* const outer = self->task;
  task->children.open(self);
  self->task = task;
  ++self->tasks_served;
  if (HEARTH_LIKELY(!is_cancelled(task)) || task->is(kTaskNoDiscard)) run_body(self, task);
  self->task = outer;
  if (HEARTH_UNLIKELY(task->children.spawned != 0) || HEARTH_UNLIKELY(has_belongings(task)))
    return end_in_place_slowly(self, task);
  return true;
}

}  // namespace hearth::rt
