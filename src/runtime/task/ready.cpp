#include "runtime/task/ready.h"

#include <atomic>
#include <cstdlib>

#include "base/assert.h"
#include "base/clock.h"
#include "policy/task_policy.h"
#include "runtime/locality/dealing.h"
#include "runtime/locality/footprint.h"
#include "runtime/locality/silent.h"
#include "runtime/locality/team_locality.h"
#include "runtime/task/run.h"
#include "runtime/task/shared_queue.h"
#include "runtime/task/wait.h"

namespace hearth::rt {
namespace {

void wake_for_task(Team* team) {
  // notify_one_unless() carries the fence that publishes the queued task before the look for sleepers. All
  // are woken if the one might be a worker that may not take it.
  team->events.notify_one_unless(process.task_vicinities);
  if (HEARTH_UNLIKELY(team->go_events.anybody_asleep()))
    team->go_events.notify_one_unless(process.task_vicinities);
}

bool push_to_inbox(Task* task, Location where, bool created) {
  Team* team = task->team;
  if (where == policy::kHere || !team->locality->inboxes[where].put(task, created)) return false;
  // All: those at `where` are meant, and a single wake-up could go to a thread that leaves far tasks alone.
  team->events.notify_all();
  if (team->go_events.anybody_asleep()) team->go_events.notify_all();
  return true;
}

// Algorithm 1: the task goes to the inbox of the location that the policy names. False: it stays here.
[[gnu::noinline]] bool deal_away(Thread* self, Task* task, bool created) {
  const Location where = deal(self, task, created);
  if (created && where != policy::kHere) note_dealing(*task->team->locality, self->member);
  if (!push_to_inbox(task, where, created)) return false;
  LiveLine::add(self->live->dealt);
  return true;
}

inline void note_tasked(Team* team) {
  if (HEARTH_LIKELY(team->tasked.load(std::memory_order_relaxed) != 0)) return;
  count_shared_write();
  team->tasked.store(1, std::memory_order_relaxed);
}

inline void push_to_own_deque(Thread* self, Task* task) {
  Team* team = task->team;
  HEARTH_ASSERT(self->member->thread == self && team == self->team && !task->is(kTaskFree),
                "thread %d pushes the task %p, flags %#x, to a deque that is not its own", self->gtid,
                static_cast<void*>(task), task->flags);
  if (HEARTH_UNLIKELY(team->one_queue || task->priority != 0) ||
      HEARTH_UNLIKELY(!self->member->deque.push(task)))
    push_to_shared_queue(team->shared_queue, task);
  wake_for_task(team);
}

/// Two ways to become ready: as its creator makes it, and as the last task that it waited for ends.
enum class Origin : bool { released, created };

// The policy is asked where the task should run if it has a footprint; all others stay here.
inline void enqueue(Thread* self, Task* task, Origin origin) {
  Team* team = task->team;
  note_tasked(team);
  if (HEARTH_UNLIKELY(task->is(kTaskFootprint)) && team->locality != nullptr && task->priority == 0 &&
      (origin == Origin::created || !process.weighs_load || asks_where_released(self, task)) &&
      deal_away(self, task, origin == Origin::created))
    return;
  push_to_own_deque(self, task);
}

/// Its location's only worker; of a team whose tasks are dealt.
bool is_alone_at_location(Thread* self) {
  const Location here = self->member->location.load(std::memory_order_relaxed);
  return here >= 0 && self->team->locality->workers[here].load(std::memory_order_relaxed) == 1;
}

// Where load is weighed: the policy is asked only if it wants, and tasks that it does not want to be asked about are
// subject to the cut-off like all others. Those that it or their construct's account leaves here are not, if others are
// near who take them: as long as their creator ran one, it would make none that is to follow another on the same data.
[[gnu::noinline]] void make_ready_weighing(Thread* self, Task* task) {
  note_tasked(task->team);
  using policy::Asking;
  Asking asks = asks_where(self, task);
  if (task->priority != 0) asks = Asking::no;
  if (asks == Asking::yes && deal_away(self, task, true)) return;
  if (asks != Asking::yes) drop_decided_footprint(task);
  if ((asks == Asking::no || is_alone_at_location(self)) && runs_at_once(self, task->payload_size))
    run_task(self, task);
  else
    push_to_own_deque(self, task);
}

}  // namespace

void enqueue(Thread* self, Task* task) { enqueue(self, task, Origin::released); }

void enqueue_at(Thread* self, Task* task, Location where) {
  Team* team = task->team;
  note_tasked(team);
  if (where != policy::kHere) note_dealing(*team->locality, self->member);
  if (!push_to_inbox(task, where, true)) return enqueue(self, task);
  LiveLine::add(self->live->dealt);
}

// A creator that is its location's only worker leaves that location's tasks lying while it creates, with all
// tasks that wait for them. So it runs one of them now and then; above all while what it creates has to wait,
// since then it keeps nobody waiting who has nothing to do.
void help_own_location(Thread* self, bool ready) {
  if (!is_alone_at_location(self)) return;
  const TeamLocality& all = *self->team->locality;
  const Location here = self->member->location.load(std::memory_order_relaxed);
  policy::CreatorsTurn& turn = self->member->creators_turn;
  const std::uint64_t task_time = all.task_time(here);
  turn.created(counter_ns(), task_time);
  const Task* creator = self->task;
  while (all.inboxes[here].size() != 0 && turn.has_come(task_time, ready)) {
    Task* task =
        all.inboxes[here].take([creator](const Task* other) { return descends_from(other, creator); });
    if (task != nullptr) run_task(self, task);
    turn.is_over(counter_ns(), task_time);  // also if none may run, so that the next look comes no sooner
  }
}

namespace {

void run_left_tasks_at_exit() {
  if (Thread* self = Thread::current_or_null()) run_left_tasks(self);
}

// The program may end without a wait for it. Then it runs before what was handed to atexit() earlier, and so
// before the destructors of objects that it may use.
[[gnu::cold, gnu::noinline]] void defer_alone(Thread* self, Task* task) {
  static constinit std::atomic<bool> seen{false};
  if (!seen.exchange(true, std::memory_order_relaxed)) std::atexit(run_left_tasks_at_exit);
  note_tasked(task->team);
  push_to_own_deque(self, task);
}

}  // namespace

void make_ready(Thread* self, Task* task) {
  if (HEARTH_UNLIKELY(process.infers) && !task->is(kTaskFootprint | kTaskRange)) silent::consider(self, task);
  // The cut-off is for tasks that would be queued here.
  const bool dealt = HEARTH_UNLIKELY(task->is(kTaskFootprint)) && task->team->locality != nullptr &&
                     !runs_at_once_always(self);
  if (dealt && process.weighs_load)
    make_ready_weighing(self, task);
  else if (dealt || !runs_at_once(self, task->payload_size))
    enqueue(self, task, Origin::created);
  else if (HEARTH_UNLIKELY(is_deferred_alone(self, task)) && self->team->size == 1)
    defer_alone(self, task);
  else
    run_task(self, task);
}

void enqueue_shared(Task* task) {
  Team* team = task->team;
  note_tasked(team);
  push_to_shared_queue(team->shared_queue, task);
  // All: a single wake-up could go to a thread that may run its own descendants only.
  team->events.notify_all();
  team->go_events.notify_all();
}

}  // namespace hearth::rt
