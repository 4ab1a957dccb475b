#include "runtime/task/find.h"

#include <optional>

#include "base/assert.h"
#include "base/clock.h"
#include "policy/search.h"
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
          LiveLine::add(self->live->stolen);
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

std::uint32_t count_queued(Thread* self, Location where) {
  std::uint32_t waiting = 0;
  first_at(self, where, [&waiting](Member* member) {
    waiting += member->deque.looks_long();
    return nullptr;
  });
  return waiting;
}

template <class Accept>
Task* steal_from(Thread* self, Location where, Accept accept) {
  return first_at(self, where, [&](Member* member) -> Task* {
    bool lost = false;
    Task* const task = member->deque.looks_empty() ? nullptr : member->deque.steal_if(accept, lost);
    if (task != nullptr) LiveLine::add(self->live->stolen);
    return task;
  });
}

// The queues as policy/search.h wants them, for the member that looks.
template <class Accept>
struct Searcher {
  using Found = Task*;
  Thread* self;
  Accept accept;
  Search& search;
  TeamLocality& all;
  const Location here;
  std::optional<policy::DealingNow> dealing;  // summed up once for all locations, and only if tasks wait at some

  policy::SearchRules rules() const { return {*process.policy, machine_view(), process.weighs_load}; }
  const Location* near() const { return locations_near(here); }
  bool shares_own_queues() const { return process.shares_own_queues; }
  std::uint64_t now() const { return counter_ns(); }
  Task* take_dealt(Location where) { return all.inboxes[where].take(accept); }
  Task* steal_at(Location where) { return steal_from(self, where, accept); }
  Task* steal_anywhere() { return steal(self, accept); }
  std::uint32_t dealt_at(Location where) const { return all.inboxes[where].size(); }
  std::uint32_t queued_at(Location where) const { return count_queued(self, where); }
  std::uint32_t waiting() const { return all.dealt(); }
  std::uint32_t created() const { return all.created(); }
  std::uint64_t served() const { return self->tasks_served(); }
  policy::FarTasks far_tasks(Location where) {
    if (!dealing) dealing = dealing_now(all);
    return rt::far_tasks(all, *dealing, here, where);
  }
  bool anything_waits() const { return true; }
  void left_alone() { search.too_soon = true; }
  void count_stolen(Location where) {
    all.inboxes[where].count_stolen(-1);
    if (here >= 0) all.inboxes[here].count_stolen(1);
  }
  // Members of whom nobody knows where they are.
  Task* last_resort() {
    if (here >= 0)
      if (Task* task = steal_from(self, placement::kUnknown, accept)) return task;
    check_when_idle(all);
    return nullptr;
  }
};

template <class Accept>
Task* find_by_distance(Thread* self, Accept accept, Search& search) {
  Member* me = self->member;
  TeamLocality& all = *self->team->locality;
  end_dealing(all, me);
  Searcher<Accept> searcher{self, accept, search, all, me->location.load(std::memory_order_relaxed), {}};
  const policy::Looker looker{.here = searcher.here, .waits = search.waits, .last_look = search.last_look};
  return policy::find_by_distance(searcher, looker, me->patience);
}

template <class Accept>
Task* find_task(Thread* self, Accept accept, Search& search) {
  Team* team = self->team;
  HEARTH_ASSERT(self->member->thread == self && self->member->team == team,
                "thread %d looks for a task in the place of another", self->gtid);
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
