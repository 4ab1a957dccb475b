// The second step: a task that nothing holds up any more goes to a queue, or runs at once.
//
// Two words: to *enqueue* a task is to choose its queue; to *push* it is to put it there. The queues: the inbox of a
// location (what the policy says), the own deque, the team's shared queue (priorities, and tasks that belong to no thread).
// Called by the thread `self` on its own behalf. The deque takes no lock; inboxes and the shared queue do.
#pragma once

#include "placement/need.h"
#include "policy/tuning.h"
#include "runtime/state/process.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// Make an adopted task available to the team (or run it at once: cut-off, team of one, final).
void make_ready(Thread* self, Task* task);
/// Without cut-off: a task of this team that a completion made ready.
void enqueue(Thread* self, Task* task);
/// The same for a task without footprint that belongs to a location of a team whose tasks are dealt; unknown: to none.
void enqueue_at(Thread* self, Task* task, placement::Location where);
/// The same when the caller's place in the task tree says nothing about the task's: another team's, or made
/// ready by an event. In the caller's deque it could bury tasks that the caller waits for.
void enqueue_shared(Task* task);

/// For a thread that has made a task with dependences, in a team whose tasks are dealt: others that wait at
/// the thread's location may run here and now, sooner if the new one is not ready.
[[gnu::cold]] void help_own_location(Thread* self, bool ready);

/// Whatever the task's clauses say.
inline bool runs_at_once_always(Thread* self) { return self->team->size == 1 || self->task->is(kTaskFinal); }

/// Unless it is a target region, beside which the program goes on even where its thread is alone.
inline bool is_deferred_alone(Thread* self, const Task* task) {
  return task->is(kTaskTarget) && !self->task->is(kTaskFinal);
}

/// How many tasks with `payload` bytes of data may wait in their creator's queue: as many as HEARTH_TASK_CUTOFF says, and
/// of large ones no more than fit into the part of the cache that waiting tasks may take. 0: any number.
inline std::int32_t cutoff_for(std::size_t payload) {
  if (HEARTH_LIKELY(payload <= tuning::kLargeTaskBytes) || process.task_cutoff == 0) return process.task_cutoff;
  const std::size_t fit = tuning::kWaitingBytes / payload + 1;
  return fit < static_cast<std::size_t>(process.task_cutoff) ? static_cast<std::int32_t>(fit) : process.task_cutoff;
}

/// Whether a new deferrable task of the current task, with `payload` bytes of data, would run at once: nobody else is
/// there, the current task is final, or enough tasks wait already (cut-off). Its data then need no copy.
inline bool runs_at_once(Thread* self, std::size_t payload) {
  if (runs_at_once_always(self)) return true;
  const std::int32_t cutoff = cutoff_for(payload);
  return cutoff != 0 && self->member->deque.depth(cutoff) >= cutoff;
}
/// The same for a task without dependences. One whose footprint was announced may be enqueued at another location, so the cut-off,
/// which is about the queue here, does not count for it.
inline bool is_cut_off(Thread* self, std::size_t payload) {
  return runs_at_once(self, payload) && (!self->task->is(kTaskAnnounced) || runs_at_once_always(self));
}

}  // namespace hearth::rt
