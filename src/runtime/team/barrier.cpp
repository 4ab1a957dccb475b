#include "runtime/team/barrier.h"

#include <cinttypes>

#include "base/assert.h"
#include "runtime/bubbles/hints.h"
#include "runtime/state/waiting.h"
#include "runtime/sync/wait.h"
#include "runtime/task/wait.h"
#include "runtime/tools/events.h"

namespace hearth::rt {
namespace {

// Has `member` arrived at the phase of `word`? If so, adds its "pending" bit. Whoever is already past the
// phase left it because no bit was set, its own included.
bool arrived(const Member& member, std::uint64_t word, bool& pending) {
  const std::uint64_t seen =
      member.arrival.load(std::memory_order_acquire);  // pairs with the release in announce()
  if (seen >> 1 < word >> 1) return false;
  // Cancelled, members leave barriers early. It has seen that before it went on, so this thread sees it now.
  HEARTH_ASSERT_INVARIANT(seen >> 1 <= (word >> 1) + 1 || member.team->cancel.load(std::memory_order_relaxed) != 0,
                          "member %d is at barrier %" PRIu64 ", this thread at %" PRIu64, member.tid, seen >> 1,
                          word >> 1);
  if (seen >> 1 == word >> 1) pending |= (seen & 1) != 0;
  return true;
}

// The same for the join of the region `word`: only the primary thread starts the next region, so nobody is
// past it.
bool joined(const Member& member, std::uint64_t word, bool& pending) {
  const std::uint64_t seen =
      member.joined.load(std::memory_order_acquire);  // pairs with the release in announce()
  if (seen >> 1 != word >> 1) return false;
  pending |= (seen & 1) != 0;
  return true;
}

using Test = bool (*)(const Member&, std::uint64_t, bool&);

void announce(std::atomic<std::uint64_t>& where, std::uint64_t word, bool pending) {
  HEARTH_ASSERT(where.load(std::memory_order_relaxed) >> 1 < word >> 1 && (word & 1) == 0,
                "the last arrival was %#" PRIx64 ", this one is %#" PRIx64, where.load(std::memory_order_relaxed),
                word);
  count_shared_write();
  where.store(word | std::uint64_t{pending}, std::memory_order_release);  // pairs with arrived() and joined()
}

// The tree for large teams: groups of kFlat by thread number, their leaders in groups again. Calls
// visit(child) for each child of `tid`.
template <class Visit>
bool all_children(int tid, int size, Visit visit) {
  for (int stride = 1; tid % (stride * Team::kFlat) == 0 && stride < size; stride *= Team::kFlat)
    for (int child = tid + stride; child < tid + stride * Team::kFlat && child < size; child += stride)
      if (!visit(child)) return false;
  return true;
}

int parent_of(int tid) {
  for (int stride = Team::kFlat;; stride *= Team::kFlat)
    if (tid % stride != 0) return tid - tid % stride;
}

bool subtree(Test test, Team* team, int tid, std::uint64_t word, bool& pending) {
  return all_children(tid, team->size, [&](int child) { return test(*team->members[child], word, pending); });
}

// Everybody but the thread `tid`, which asks.
bool everybody(Test test, Team* team, int tid, std::uint64_t word, bool& pending) {
  const int size = team->size;
  for (int i = 0; i < size; ++i)
    if (i != tid && !test(*team->members[i], word, pending)) return false;
  return true;
}

bool all_tasks_complete(Team* team) {
  for (int i = 0; i < team->size; ++i)
    if (!team->members[i]->implicit.children.all_complete()) return false;
  return true;
}

Look help(Thread* self, bool last_look) {
  return help_in_wait(self, [&] { return help_team(self, last_look); });
}

Look help_if_tasked(Thread* self, bool last_look) {
  if (HEARTH_LIKELY(self->team->tasked.load(std::memory_order_relaxed) == 0)) return Look::nothing;
  return help(self, last_look);
}

bool alone(Thread* self) {
  Task& task = self->member->implicit;
  self->member->in_barrier = true;
  wait_until(
      self->team->events, [&] { return task.children.all_complete(); },
      [&](bool last_look) { return help_team(self, last_look); });
  self->member->in_barrier = false;
  return false;
}

bool wait_for_team(Thread* self, bool cancellable) {
  Team* team = self->team;
  Member* me = self->member;
  if (team->size == 1) {
    ++me->phase;
    return alone(self);
  }
  const int tid = self->tid;
  HEARTH_ASSERT(me->thread == self && !me->in_barrier && self->task == &me->implicit && tid < team->size,
                "member %d of %d%s is in a barrier%s", tid, int{team->size},
                self->task == &me->implicit ? "" : ", with an explicit task,", me->in_barrier ? " already" : "");
  // Acquire pairs with the release in cancel().
  auto give_up = [&] { return cancellable && team->cancel.load(std::memory_order_acquire) != 0; };
  if (give_up()) return true;

  bool pending = !me->implicit.children.all_complete();
  me->in_barrier = true;
  const std::uint64_t bare = ++me->phase << 1;
  bool goes_on_at_once = false;

  if (team->flat) {
    announce(me->arrival, bare, pending);
    goes_on_at_once = crowded() && everybody(arrived, team, tid, bare, pending);
    wait_until(
        team->events, [&] { return everybody(arrived, team, tid, bare, pending) || give_up(); },
        [&](bool last_look) { return help_if_tasked(self, last_look); });
  } else {
    wait_until(
        team->events, [&] { return subtree(arrived, team, tid, bare, pending) || give_up(); },
        [&](bool last_look) { return help_if_tasked(self, last_look); });
    announce(me->arrival, bare, pending);
  }
  if (HEARTH_UNLIKELY(give_up())) {
    team->events.notify_all();
    me->in_barrier = false;
    return true;
  }
  // Those who sleep wait for what this thread has just announced or seen.
  team->events.notify_all();
  // The last to arrive does not keep the others from leaving: if the program now spins for one of them, that would take a tick.
  if (HEARTH_UNLIKELY(goes_on_at_once)) yield_cpu();

  if (!team->flat || HEARTH_UNLIKELY(pending)) {
    if (tid == 0) {
      if (pending)
        wait_until(
            team->events, [&] { return all_tasks_complete(team) || give_up(); },
            [&](bool last_look) { return help(self, last_look); });
    } else {
      const Member& above = *team->members[team->flat ? 0 : parent_of(tid)];
      // Pairs with the release store below, which the parent in the tree (or the primary thread) makes.
      wait_until(
          team->events, [&] { return above.release.load(std::memory_order_acquire) >= bare || give_up(); },
          [&](bool last_look) { return help_if_tasked(self, last_look); });
    }
    if (tid % Team::kFlat == 0 || tid == 0) {
      HEARTH_ASSERT(me->release.load(std::memory_order_relaxed) < bare,
                    "the last release was of barrier %" PRIu64 ", this one is of %" PRIu64,
                    me->release.load(std::memory_order_relaxed) >> 1, bare >> 1);
      count_shared_write();
      me->release.store(bare, std::memory_order_release);  // pairs with the acquire of those below, as above
      team->events.notify_all();
    }
  }
  me->in_barrier = false;
  return give_up();
}

}  // namespace

bool barrier(Thread* self, bool cancellable) {
  if (events::active()) events::barrier_begin(self);
  const std::uint64_t outer = begin_wait(self);
  const bool cancelled = wait_for_team(self, cancellable);
  end_wait(self, outer);
  if (events::active()) events::barrier_end(self);
  // What members said before the barrier holds for all behind it.
  if (HEARTH_UNLIKELY(self->team->hints_due != 0)) put_hints_in_force(self->team);
  return cancelled;
}

void arrive_at_join(Thread* self) {
  begin_wait(self);  // until serve_team() goes on
  Team* team = self->team;
  Member* me = self->member;
  const int tid = self->tid;
  const std::uint64_t bare = std::uint64_t{team->epoch()} << 1;
  bool pending = !me->implicit.children.all_complete();
  me->in_barrier = true;
  if (!team->flat)
    wait_until(
        team->events, [&] { return subtree(joined, team, tid, bare, pending); },
        [&](bool last_look) { return help_if_tasked(self, last_look); });
  const bool flat = team->flat;
  // From here on the primary thread may start the next region, and what is constant within a region may
  // change. The team itself stays while this worker is a member.
  announce(me->joined, bare, pending);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one in EventCount::announce()
  if (HEARTH_LIKELY(!team->events.anybody_asleep())) return;
  // Of a flat team only the last to arrive wakes the primary thread; after the fence at least that one sees
  // all the others.
  bool ignored = false;
  if (flat)
    for (int i = 1, size = team->size; i < size; ++i)
      if (i != tid && !joined(*team->members[i], bare, ignored)) return;
  team->events.notify_all();
}

void wait_for_join(Thread* self) {
  Team* team = self->team;
  Member* me = self->member;
  if (team->size == 1) {
    alone(self);
    return;
  }
  const std::uint64_t outer = begin_wait(self);
  const std::uint64_t bare = std::uint64_t{team->epoch()} << 1;
  bool pending = !me->implicit.children.all_complete();
  me->in_barrier = true;
  wait_until(
      team->events,
      [&] {
        return team->flat ? everybody(joined, team, 0, bare, pending)
                          : subtree(joined, team, 0, bare, pending);
      },
      [&](bool last_look) { return help_if_tasked(self, last_look); });
  if (HEARTH_UNLIKELY(pending))
    wait_until(
        team->events, [&] { return all_tasks_complete(team); },
        [&](bool last_look) { return help(self, last_look); });
  end_wait(self, outer);
  HEARTH_ASSERT_INVARIANT(all_tasks_complete(team), "region %u is over, and some of its tasks are not", team->epoch());
  me->in_barrier = false;
}

}  // namespace hearth::rt
