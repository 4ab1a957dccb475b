#include "runtime/task/tasking.h"

#include <cstdlib>
#include <optional>

#include "base/log.h"
#include "policy/task_policy.h"
#include "runtime/tools/check.h"
#include "runtime/tools/decisions.h"
#include "runtime/task/depend.h"
#include "runtime/task/detach.h"
#include "runtime/tools/events.h"
#include "runtime/locality/footprint.h"
#include "runtime/locality/neighbourhood.h"
#include "runtime/task/shared_queue.h"
#include "runtime/task/task_reduction.h"
#include "runtime/sync/wait.h"
#include "runtime/loop/workshare.h"

namespace hearth::rt {
namespace {

constexpr std::uint32_t kMaxSpawned = std::uint32_t{1} << 30;  // half of what a Brood can count

// Counts `task` in its brood. `what` is kFinished, kComplete or both. Returns the task that became complete
// thereby, which is the brood's own task when that has ended and this was its last descendant.
Task* count_in_brood(Thread* self, Task* task, std::uint64_t what) {
  Brood* brood = task->brood;
  if (HEARTH_LIKELY(brood->owner.load(std::memory_order_relaxed) == self)) {
    // Release: pairs with the acquire in all_complete(), by which a barrier's primary thread sees the task's
    // effects.
    brood->here.store(brood->here.load(std::memory_order_relaxed) + what, std::memory_order_release);
    if (HEARTH_UNLIKELY(self->member->in_barrier)) self->team->events.notify_all();
    return nullptr;
  }
  Task* parent = task->parent.load(std::memory_order_relaxed);
  Team* team = task->team;
  count_shared_write();
  const std::uint64_t now = brood->elsewhere.fetch_add(what, std::memory_order_acq_rel) + what;
  // Nothing of the brood is read any more: if another task completes last, its owner's descriptor is
  // recycled.
  if ((now & Brood::kClosed) != 0) return Brood::complete_of(now) == 0 ? parent : nullptr;
  team->events.notify_all();  // the owner may sleep in taskwait, or the primary thread in a barrier
  return nullptr;
}

[[gnu::noinline]] void free_belongings(Thread* self, Task* task) {
  if (task->is(kTaskOwnsIcvs)) {
    for (Icvs* icvs = task->icvs; icvs != nullptr;) {
      Icvs* older = icvs->retired;
      std::free(icvs);
      icvs = older;
    }
    task->flags &= ~kTaskOwnsIcvs;
  }
  if (task->is(kTaskFootprint)) drop_footprint(task);
  if (task->is(kTaskAnnounced)) drop_announced(task);
  if (task->depends != nullptr) drop_depend_table(self, task);
}

inline void drop_belongings(Thread* self, Task* task) {
  if (HEARTH_UNLIKELY(has_belongings(task))) free_belongings(self, task);
}

void recycle(Thread* self, Task* task) {
  drop_belongings(self, task);
  free_task(self, task);
}

// Recycle a complete task and every ancestor whose last descendant it was.
void complete_task(Thread* self, Task* task, std::uint64_t what) {
  for (;;) {
    // Read before counting: once counted, the brood may be gone.
    Task* ancestor = count_in_brood(self, task, what);
    recycle(self, task);
    if (HEARTH_LIKELY(ancestor == nullptr)) return;
    task = ancestor;
    what = Brood::kComplete;
  }
}

// True when the brood's owner will run no more of the task's body and nothing is outstanding; else leaves the
// brood closed, and the last descendant to complete takes over.
bool close_brood(Brood& brood) {
  if (HEARTH_LIKELY(brood.all_complete())) return true;
  brood.owner.store(nullptr, std::memory_order_relaxed);
  // From now on the high half counts up to zero, modulo 2^32: what is missing.
  const std::uint64_t add =
      Brood::kClosed +
      (std::uint64_t{Brood::complete_of(brood.here.load(std::memory_order_relaxed)) - brood.spawned} << 32);
  count_shared_write();
  const std::uint64_t now = brood.elsewhere.fetch_add(add, std::memory_order_acq_rel) + add;
  return Brood::complete_of(now) == 0;
}

std::uint32_t next_random(Member* member) {
  std::uint32_t x = member->steal_seed;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return member->steal_seed = x;
}

template <class Accept>
Task* steal(Thread* self, Accept accept) {
  Team* team = self->team;
  const int size = team->size;
  if (size == 1) return nullptr;
  Member* me = self->member;
  int victim = me->last_victim;
  if (victim >= size) victim = static_cast<int>(next_random(me) % static_cast<std::uint32_t>(size));
  for (int tries = 0; tries < size; ++tries) {
    if (victim != self->tid) {
      Deque& deque = team->members[victim]->deque;
      if (!deque.looks_empty()) {
        bool lost = false;
        if (Task* task = deque.steal_if(accept, lost)) {
          me->last_victim = victim;
          return task;
        }
      }
    }
    if (++victim == size) victim = 0;
  }
  me->last_victim = static_cast<int>(next_random(me) % static_cast<std::uint32_t>(size));
  return nullptr;
}

// Calls visit(member) for the other members at `where` until one gives a task.
template <class Visit>
Task* first_at(Thread* self, Location where, Visit visit) {
  Team* team = self->team;
  const int size = team->size;
  int tid = self->tid;
  for (int others = size - 1; others > 0; --others) {
    if (++tid >= size) tid = 0;
    Member* member = team->members[tid];
    if (member->location.load(std::memory_order_relaxed) != where) continue;
    if (Task* task = visit(member)) return task;
  }
  return nullptr;
}

std::uint32_t queued_at(Thread* self, Location where) {
  std::uint32_t waiting = 0;
  first_at(self, where, [&waiting](Member* member) {
    waiting += member->deque.looks_long();
    return nullptr;
  });
  return waiting;
}

template <class Accept>
Task* steal_at(Thread* self, Location where, Accept accept) {
  return first_at(self, where, [&](Member* member) -> Task* {
    bool lost = false;
    return member->deque.looks_empty() ? nullptr : member->deque.steal_if(accept, lost);
  });
}

// A look for a task.
struct Search {
  bool waits;             // for descendants of the current task, and can run nothing else
  bool last_look;         // before the thread sleeps
  bool too_soon = false;  // found tasks that are left for their own workers, for a while
};

// Algorithm 2 (Muddukrishna et al. 2015, 3.2): first what waits at this location, then the others by rising
// distance. Tasks in their creator's own queue are stolen when more of them wait than the policy's threshold,
// tasks that were dealt to their data when may_steal_dealt() says so. Whoever looks in vain looks again later
// and later. A waiter, whom descendants may keep waiting that lie below every threshold or out of its reach,
// takes those above it after kPatience such looks, and all after twice as many or before it sleeps.
template <class Accept>
Task* find_by_distance(Thread* self, Accept accept, Search& search) {
  constexpr std::uint32_t kPatience = 8;
  Member* me = self->member;
  Neighbourhood& all = *self->team->neighbourhood;
  Inbox* inboxes = all.inboxes;
  const Location here = me->location.load(std::memory_order_relaxed);
  end_dealing(all, me);
  if (here >= 0) {
    Task* task = inboxes[here].take(accept);
    if (task == nullptr) task = steal_at(self, here, accept);
    if (task != nullptr) {
      if (me->patience.waiting()) me->patience.found_near(ticks());
      return task;
    }
  }
  if (process.shares_own_queues)
    if (Task* task = steal(self, accept)) return task;
  const std::uint64_t now = ticks();
  if (!search.last_look && me->patience.rests(now)) return nullptr;
  const policy::MachineView& machine = machine_view();
  const policy::TaskPolicy& policy = *process.policy;
  const policy::Idleness idle = me->patience.look(now, all.dealt(), all.created(), self->tasks_served);
  const bool any = search.last_look || me->patience.looks() > 2 * kPatience;
  // Summed up once for all locations, and only if tasks wait at some.
  std::optional<DealingNow> dealing;
  const auto may_take = [&](Location where, std::uint32_t dealt) {
    if (!search.waits || (process.weighs_load && !any)) {
      if (!dealing) dealing = dealing_now(all);
      return policy.may_steal_dealt(machine, here, where, far_tasks(all, *dealing, here, where), idle);
    }
    return any || (me->patience.looks() > kPatience && policy.may_steal(machine, here, where, dealt));
  };
  const Location* near = locations_near(here);
  for (std::int32_t i = here < 0 ? 0 : 1; i < machine.locations; ++i) {
    const Location where = near[i];
    const std::uint32_t dealt = inboxes[where].size(), queued = queued_at(self, where);
    if (queued != 0 && ((any && (search.waits || policy.may_reach(machine, here, where))) ||
                        policy.may_steal(machine, here, where, queued)))
      if (Task* task = steal_at(self, where, accept)) return task;
    if (dealt == 0) continue;
    if (!may_take(where, dealt)) {
      search.too_soon = true;
    } else if (Task* task = inboxes[where].take(accept)) {
      if (!search.waits) me->patience.steal(idle);
      inboxes[where].count_stolen(-1);
      if (here >= 0) inboxes[here].count_stolen(1);
      return task;
    }
  }
  if (here >= 0)
    if (Task* task = steal_at(self, placement::kUnknown, accept)) return task;
  check_when_idle(*self->team->neighbourhood);
  me->patience.rest(ticks());
  return nullptr;
}

template <class Accept>
Task* find_task(Thread* self, Accept accept, Search& search) {
  Team* team = self->team;
  if (HEARTH_UNLIKELY(team->shared_queue.size.load(std::memory_order_relaxed) != 0)) {
    if (Task* task = take_shared(team->shared_queue, accept)) return task;
  }
  if (Task* task = self->member->deque.pop_if(accept)) return task;
  if (HEARTH_UNLIKELY(team->neighbourhood != nullptr)) return find_by_distance(self, accept, search);
  return steal(self, accept);
}

// Whether the event of a task whose body has ended is fulfilled. If not, whoever fulfils it finishes the
// task.
[[gnu::noinline]] bool event_is_fulfilled(Thread* self, Task* task) {
  if (task->is(kTaskWaitForEvent)) {
    wait_until(
        self->team->events,
        [&] { return task->detach_state.load(std::memory_order_acquire) == kDetachFulfilled; },
        [&](bool last_look) { return help_descendants(self, self->task, last_look); });
    return true;
  }
  return body_ended_with_event_fulfilled(task);
}

// A cancelled task with an event: whoever has the handle may still fulfil it, and recycles the descriptor
// then.
[[gnu::cold, gnu::noinline]] void finish_discarded(Thread* self, Task* task) {
  if (task->is(kTaskHasDepend)) release_dependences(self, task, false);
  Task* ancestor = count_in_brood(self, task, Brood::kFinished + Brood::kComplete);
  drop_belongings(self, task);
  std::uint32_t state = kDetachRunning;
  // Release: the handle's holder recycles what is finished here. Acquire: so does this thread, of one who
  // came first.
  if (!task->detach_state.compare_exchange_strong(state, kDetachDiscarded, std::memory_order_acq_rel,
                                                  std::memory_order_acquire))
    free_task(self, task);
  if (ancestor != nullptr) complete_task(self, ancestor, Brood::kComplete);
}

// Where a tool learns of a new task.
[[gnu::cold]] void tell_creation(Thread* self, Task* task) {
  if (decisions::on) decisions::number(self->task, task);
  int type = ompt_task_explicit;
  if (!task->is(kTaskTied)) type |= ompt_task_untied;
  if (task->is(kTaskFinal)) type |= ompt_task_final;
  if (task->is(kTaskMergeable)) type |= ompt_task_mergeable;
  if (task->is(kTaskIncluded) || runs_at_once_always(self)) type |= ompt_task_undeferred;
  events::task_create(self, task, type, task->is(kTaskNamesDepend));
  if (task->is(kTaskFootprint)) events::footprint(task);
}

// How a tool sees a task whose body has ended.
ompt_task_status_t status_after_body(const Task* task) {
  const bool detached = task->is(kTaskDetachable | kTaskProxy) &&
                        task->detach_state.load(std::memory_order_acquire) == kDetachRunning;
  return detached ? ompt_task_detach : ompt_task_complete;
}

// The body, with an OMPT tool watching.
[[gnu::noinline]] void run_told(Thread* self, Task* outer, Task* task, bool cancelled) {
  void* const codeptr = self->ompt_codeptr;
  const std::int32_t state = self->ompt_state;
  events::task_begin(self, outer, task, __builtin_frame_address(0));
  if (cancelled) {
    events::cancel_discarded(self, task);
  } else {
    if (task->is(kTaskChunk)) events::taskloop_chunk(self, task);
    if (check::on) check::task_begin(self, task);
    run_body(self, task);
    if (check::on) check::task_end(self);
  }
  events::task_end(self, task, outer, cancelled ? ompt_task_cancel : status_after_body(task));
  self->ompt_codeptr = codeptr;
  self->ompt_state = state;
}

void wake_for_task(Team* team) {
  // notify_one_unless() carries the fence that publishes the queued task before the look for sleepers. All
  // are woken if the one might be a worker that may not take it.
  team->events.notify_one_unless(process.task_vicinities);
  if (HEARTH_UNLIKELY(team->go_events.anybody_asleep()))
    team->go_events.notify_one_unless(process.task_vicinities);
}

}  // namespace

void adopt(Thread* self, Task* task) {
  Task* parent = self->task;
  Taskgroup* group = parent->group;
  // A group that only carries reductions leaves its tasks to the parent: barriers must see them.
  Brood* brood =
      group != nullptr && group->task == parent && !group->worksharing ? &group->brood : &parent->children;
  if (HEARTH_UNLIKELY(brood->spawned >= kMaxSpawned)) {
    wait_until(
        self->team->events, [&] { return brood->all_complete(); },
        [&](bool last_look) { return help_descendants(self, parent, last_look); });
    brood->open(self);
  }
  brood->add();
  task->brood = brood;
  if (events::active()) tell_creation(self, task);
}

void enqueue_anywhere(Task* task) {
  Team* team = task->team;
  if (team->tasked.load(std::memory_order_relaxed) == 0) {
    count_shared_write();
    team->tasked.store(1, std::memory_order_relaxed);
  }
  put_shared(team->shared_queue, task);
  // All: one that waits for its own descendants only could swallow the news.
  team->events.notify_all();
  team->go_events.notify_all();
}

namespace {

bool put_in_inbox(Task* task, Location where, bool created) {
  Team* team = task->team;
  if (where == policy::kHere || !team->neighbourhood->inboxes[where].put(task, created)) return false;
  // All: those at `where` are meant, and one that leaves far tasks alone could swallow the news.
  team->events.notify_all();
  if (team->go_events.anybody_asleep()) team->go_events.notify_all();
  return true;
}

// Algorithm 1: the task goes to the inbox of the location that the policy names. False: it stays here.
[[gnu::noinline]] bool deal_away(Thread* self, Task* task, bool created) {
  const Location where = deal(self, task, created);
  if (created && where != policy::kHere) note_dealing(*task->team->neighbourhood, self->member);
  return put_in_inbox(task, where, created);
}

inline void note_tasked(Team* team) {
  if (HEARTH_LIKELY(team->tasked.load(std::memory_order_relaxed) != 0)) return;
  count_shared_write();
  team->tasked.store(1, std::memory_order_relaxed);
}

inline void keep(Thread* self, Task* task) {
  Team* team = task->team;
  if (HEARTH_UNLIKELY(team->one_queue || task->priority != 0) ||
      HEARTH_UNLIKELY(!self->member->deque.push(task)))
    put_shared(team->shared_queue, task);
  wake_for_task(team);
}

inline void queue(Thread* self, Task* task, bool created) {
  Team* team = task->team;
  note_tasked(team);
  if (HEARTH_UNLIKELY(task->is(kTaskFootprint)) && team->neighbourhood != nullptr && task->priority == 0 &&
      deal_away(self, task, created))
    return;
  keep(self, task);
}

/// Its location's only worker; of a team whose tasks are dealt.
bool is_alone_at_location(Thread* self) {
  const Location here = self->member->location.load(std::memory_order_relaxed);
  return here >= 0 && self->team->neighbourhood->workers[here].load(std::memory_order_relaxed) == 1;
}

// Where load is weighed: the policy is asked only if it wants, and tasks about which nobody asked are subject
// to the cut-off like all others. Those that it leaves here are not, if others are near who take them: as
// long as their creator ran one, it would make none that is to follow another on the same data.
[[gnu::noinline]] void make_ready_weighing(Thread* self, Task* task) {
  note_tasked(task->team);
  const bool asks = asks_where(self) && task->priority == 0;
  if (asks && deal_away(self, task, true)) return;
  if ((!asks || is_alone_at_location(self)) && runs_at_once(self))
    run_task(self, task);
  else
    keep(self, task);
}

}  // namespace

void enqueue(Thread* self, Task* task) { queue(self, task, false); }

void enqueue_at(Thread* self, Task* task, Location where) {
  Team* team = task->team;
  if (team->tasked.load(std::memory_order_relaxed) == 0) {
    count_shared_write();
    team->tasked.store(1, std::memory_order_relaxed);
  }
  if (where != policy::kHere) note_dealing(*team->neighbourhood, self->member);
  if (!put_in_inbox(task, where, true)) enqueue(self, task);
}

// A creator that is its location's only worker leaves that location's tasks lying while it creates, with all
// tasks that wait for them. So it runs one of them now and then; above all while what it creates has to wait,
// since then it keeps nobody waiting who has nothing to do.
void help_own_location(Thread* self, bool ready) {
  if (!is_alone_at_location(self)) return;
  const Neighbourhood& all = *self->team->neighbourhood;
  const Location here = self->member->location.load(std::memory_order_relaxed);
  policy::CreatorsTurn& turn = self->member->creators_turn;
  const std::uint64_t task_time = all.task_time(here);
  turn.created(ticks(), task_time);
  const Task* creator = self->task;
  while (all.inboxes[here].size() != 0 && turn.has_come(task_time, ready)) {
    Task* task =
        all.inboxes[here].take([creator](const Task* other) { return descends_from(other, creator); });
    if (task != nullptr) run_task(self, task);
    turn.is_over(ticks(), task_time);  // also if none may run, so that the next look comes no sooner
  }
}

void make_ready(Thread* self, Task* task) {
  // The cut-off is for tasks that would be queued here.
  const bool dealt = HEARTH_UNLIKELY(task->is(kTaskFootprint)) && task->team->neighbourhood != nullptr &&
                     !runs_at_once_always(self);
  if (dealt && process.weighs_load)
    make_ready_weighing(self, task);
  else if (!dealt && runs_at_once(self))
    run_task(self, task);
  else
    queue(self, task, true);
}

bool run_in_place_counted(Thread* self, Task* task) {
  task->flags |= kTaskIncluded;
  adopt(self, task);
  if (task->is(kTaskDetachable)) task->flags |= kTaskWaitForEvent;
  run_task(self, task);
  return false;
}

bool end_in_place_slowly(Thread* self, Task* task) {
  if (task->children.all_complete()) {
    recycle(self, task);
  } else {
    adopt(self, task);
    finish_task(self, task);
  }
  return false;
}

void run_task(Thread* self, Task* task) {
  Task* const outer = self->task;
  task->children.open(self);
  self->task = task;
  const std::uint64_t served = ++self->tasks_served;
  const bool cancelled = HEARTH_UNLIKELY(is_cancelled(task)) && !task->is(kTaskNoDiscard);
  const std::uint64_t begun = HEARTH_UNLIKELY(task->is(kTaskFootprint)) ? ticks() : 0;
  if (events::active())
    run_told(self, outer, task, cancelled);
  else if (!cancelled)
    run_body(self, task);
  self->task = outer;
  if (HEARTH_UNLIKELY(begun != 0)) {
    // Where load is weighed, a task that has run others meanwhile says nothing.
    const bool counts = !process.weighs_load || self->tasks_served == served;
    if (!cancelled && counts) note_task_time(self, ticks() - begun);
    drop_footprint(task);
  }
  if (HEARTH_UNLIKELY(task->is(kTaskDetachable | kTaskProxy))) {
    if (cancelled) return finish_discarded(self, task);
    if (!event_is_fulfilled(self, task)) return;
  }
  finish_task(self, task);
}

void begin_undeferred(Thread* self, Task* task) {
  task->brood = nullptr;
  if (HEARTH_UNLIKELY(!runs_uncounted(task))) {
    task->flags |= kTaskIncluded;
    adopt(self, task);
  }
  task->children.open(self);
  if (events::active()) events::undeferred_begin(self, self->task, task);
  self->task = task;
  ++self->tasks_served;
  if (events::active() && check::on) check::task_begin(self, task);
}

void end_undeferred(Thread* self, Task* task) {
  Task* outer = task->parent.load(std::memory_order_relaxed);
  if (events::active() && check::on) check::task_end(self);
  if (events::active()) events::task_end(self, task, outer, status_after_body(task));
  self->task = outer;
  if (HEARTH_LIKELY(task->brood == nullptr)) {
    end_in_place_slowly(self, task);
    return;
  }
  // OpenMP 5.2, section 1.2.2: the generating task is suspended until the structured block is completed, not
  // the event.
  if (HEARTH_UNLIKELY(task->is(kTaskDetachable)) && !body_ended_with_event_fulfilled(task)) return;
  finish_task(self, task);
}

void finish_task(Thread* self, Task* task, bool by_event) {
  if (HEARTH_UNLIKELY(task->is(kTaskHasDepend))) release_dependences(self, task, by_event);
  if (HEARTH_LIKELY(close_brood(task->children)))
    complete_task(self, task, Brood::kFinished + Brood::kComplete);
  else
    count_in_brood(self, task, Brood::kFinished);
}

void discard_task(Thread* self, Task* task) { recycle(self, task); }

Look help_team(Thread* self, bool last_look) {
  Search search{.waits = false, .last_look = last_look};
  Task* task = find_task(self, [](const Task*) { return true; }, search);
  if (task == nullptr) return search.too_soon ? Look::too_soon : Look::nothing;
  run_task(self, task);
  return Look::worked;
}

Look help_between_regions(Thread* self, std::uint64_t seen_go, bool last_look) {
  Team* team = self->team;
  Search search{.waits = false, .last_look = last_look};
  Task* task = find_task(self, [](const Task*) { return true; }, search);
  if (task == nullptr) return search.too_soon ? Look::too_soon : Look::nothing;
  // The acquire in the claim pairs with the push, which came after the fork when the task belongs to a new
  // region: then this thread, which has not entered that region yet and may be no member of it, gives the
  // task back.
  if (HEARTH_UNLIKELY(team->fork.go.load(std::memory_order_acquire) != seen_go)) {
    put_shared(team->shared_queue, task);
    wake_for_task(team);
  } else {
    run_task(self, task);
  }
  return Look::worked;
}

Look help_descendants(Thread* self, const Task* ancestor, bool last_look) {
  Search search{.waits = true, .last_look = last_look};
  Task* task = find_task(
      self, [ancestor](const Task* candidate) { return descends_from(candidate, ancestor); }, search);
  if (task == nullptr) return Look::nothing;
  run_task(self, task);
  return Look::worked;
}

void taskwait(Thread* self) {
  Task* task = self->task;
  auto finished = [task] {
    for (Taskgroup* group = task->group; group != nullptr && group->task == task; group = group->outer)
      if (!group->brood.all_finished()) return false;
    return task->children.all_finished();
  };
  if (events::active()) events::sync_begin(self, ompt_sync_region_taskwait);
  wait_until(self->team->events, finished,
             [&](bool last_look) { return help_descendants(self, task, last_look); });
  if (events::active()) events::sync_end(self, ompt_sync_region_taskwait);
}

void taskyield(Thread* self) {
  self->ompt_yields = true;
  help_descendants(self, self->task, true);
  self->ompt_yields = false;
}

Taskgroup* taskgroup_begin(Thread* self) {
  auto* group = static_cast<Taskgroup*>(std::malloc(sizeof(Taskgroup)));
  if (group == nullptr) fatal("out of memory: no room for a taskgroup");
  new (group) Taskgroup;
  group->brood.open(self);
  group->outer = self->task->group;
  group->task = self->task;
  self->task->group = group;
  if (events::active()) events::sync_begin(self, ompt_sync_region_taskgroup, false);
  return group;
}

void taskgroup_end(Thread* self) {
  Task* task = self->task;
  Taskgroup* group = task->group;
  if (events::active()) events::sync_wait(self, ompt_sync_region_taskgroup, ompt_scope_begin);
  wait_until(
      self->team->events,
      [group, task] { return (group->worksharing ? task->children : group->brood).all_complete(); },
      [&](bool last_look) { return help_descendants(self, task, last_look); });
  if (HEARTH_UNLIKELY(group->reductions != nullptr)) finish_reductions(self, group);
  if (events::active()) {
    events::sync_wait(self, ompt_sync_region_taskgroup, ompt_scope_end);
    events::sync_end(self, ompt_sync_region_taskgroup, false);
  }
  task->group = group->outer;
  std::free(group);
}

Icvs& own_icvs(Thread* self) {
  Task* task = self->task;
  // In place only when nobody else can be reading the block: it is the task's own, and no child is alive.
  bool exclusive = task->is(kTaskOwnsIcvs) && task->children.all_complete();
  for (Taskgroup* group = task->group; exclusive && group != nullptr && group->task == task;
       group = group->outer)
    exclusive = group->brood.all_complete();
  if (exclusive) return *task->icvs;
  auto* block = static_cast<Icvs*>(std::malloc(sizeof(Icvs)));
  if (block == nullptr) fatal("out of memory: no room for a task's control variables");
  new (block) Icvs(*task->icvs);
  block->retired = task->is(kTaskOwnsIcvs) ? task->icvs : nullptr;
  task->icvs = block;
  task->flags |= kTaskOwnsIcvs;
  return *block;
}

void begin_implicit_task(Thread* self, Member* member) {
  Team* team = self->team;
  Task& task = member->implicit;
  drop_belongings(self, &task);  // of the last region's implicit task in this slot
  Task* encountering = team->parent_task;
  task.parent.store(encountering, std::memory_order_relaxed);
  task.depth.store(encountering == nullptr ? 0 : encountering->depth.load(std::memory_order_relaxed) + 1,
                   std::memory_order_relaxed);
  task.flags =
      kTaskImplicit | kTaskTied | (encountering == nullptr ? kTaskInitial : encountering->flags & kTaskFinal);
  task.team = team;
  task.icvs = team->icvs;
  task.group = team->region_group;
  task.children.open(self);
  if (HEARTH_UNLIKELY(team->resync_epoch == team->epoch())) {
    member->phase = team->phase_base;
    restart_member(member);
  }
  member->singles = 0;
  member->in_barrier = false;
  self->task = &task;
  if (HEARTH_UNLIKELY(team->neighbourhood != nullptr)) {
    end_dealing(*team->neighbourhood, member);
    locate(self, member);
  }
}

}  // namespace hearth::rt
