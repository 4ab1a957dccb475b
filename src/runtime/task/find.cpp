#include "runtime/task/find.h"

#include <optional>

#include "policy/task_policy.h"
#include "runtime/locality/dealing.h"
#include "runtime/locality/machine_view.h"
#include "runtime/locality/page_checks.h"
#include "runtime/locality/team_locality.h"
#include "runtime/state/process.h"
#include "runtime/task/shared_queue.h"

namespace hearth::rt {
namespace {

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

// Algorithm 2 (Muddukrishna et al. 2015, 3.2): first what waits at this location, then the others by rising
// distance. Tasks in their creator's own queue are stolen when more of them wait than the policy's threshold,
// tasks that were dealt to their data when may_steal_dealt() says so. Whoever looks in vain looks again later
// and later. A waiter, whom descendants may keep waiting that lie below every threshold or out of its reach,
// takes those above it after kPatience such looks, and all after twice as many or before it sleeps.
template <class Accept>
Task* find_by_distance(Thread* self, Accept accept, Search& search) {
  constexpr std::uint32_t kPatience = 8;
  Member* me = self->member;
  TeamLocality& all = *self->team->locality;
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
  check_when_idle(*self->team->locality);
  me->patience.rest(ticks());
  return nullptr;
}

template <class Accept>
Task* find_task(Thread* self, Accept accept, Search& search) {
  Team* team = self->team;
  if (HEARTH_UNLIKELY(team->shared_queue.size.load(std::memory_order_relaxed) != 0)) {
    if (Task* task = take_from_shared_queue(team->shared_queue, accept)) return task;
  }
  if (Task* task = self->member->deque.pop_if(accept)) return task;
  if (HEARTH_UNLIKELY(team->locality != nullptr)) return find_by_distance(self, accept, search);
  return steal(self, accept);
}

}  // namespace

Task* find_any(Thread* self, Search& search) {
  return find_task(self, [](const Task*) { return true; }, search);
}

Task* find_descendant(Thread* self, const Task* ancestor, Search& search) {
  return find_task(
      self, [ancestor](const Task* candidate) { return descends_from(candidate, ancestor); }, search);
}

}  // namespace hearth::rt
