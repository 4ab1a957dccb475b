// The search of a worker whose own queue is empty, in a team whose tasks are dealt to locations: Algorithm 2
// (Muddukrishna et al. 2015, 3.2), and what we add to it.
//
//   1. What waits at its own location: the inbox, then its neighbours' own queues.
//   2. Where anybody may steal from own queues (TaskPolicy::shares_own_queues), from any of these.
//   3. Unless it looked a short while ago (Patience): the other locations by rising distance. At each first the own
//      queues of the workers there, then the inbox.
//
// What it may take far away is decided by FarLook. The search is written once, for the runtime's threads and for the
// simulator's workers: `World` has the queues. Nothing here blocks, and all state is the calling worker's own.
#pragma once

#include <cstdint>

#include "policy/patience.h"
#include "policy/task_policy.h"
#include "policy/tuning.h"

namespace hearth::policy {

/// What does not change while a program runs.
struct SearchRules {
  const TaskPolicy& policy;
  const MachineView& machine;
  bool weighs_load;  // the policy's property, without a call
};

/// Who looks.
struct Looker {
  Location here = kHere;   // negative: nobody knows where it is
  bool waits = false;      // for descendants of its task, and can run nothing else
  bool last_look = false;  // before it sleeps
};

/// What a worker may take from other locations in one look. An idle worker takes what the policy allows, and in its last
/// look before it sleeps any task in an own queue that it may reach. A waiter may wait for tasks that lie below every
/// threshold, or out of its reach: it takes those above the threshold after kWaiterLooks looks in vain, and all of them
/// after twice as many or before it sleeps. So nobody waits for ever.
class FarLook {
 public:
  /// `looks`: how many there were since it found something near, this one included.
  FarLook(const SearchRules& rules, const Looker& looker, const Idleness& idle, std::uint32_t looks)
      : rules_(rules),
        looker_(looker),
        idle_(idle),
        threshold_counts_(looks > tuning::kWaiterLooks),
        any_(looker.last_look || looks > 2 * tuning::kWaiterLooks) {}

  /// Tasks in the own queues of the workers at `where`.
  bool may_take_queued(Location where, std::uint32_t queued) const {
    if (queued == 0) return false;
    if (any_ && (looker_.waits || rules_.policy.may_reach(rules_.machine, looker_.here, where))) return true;
    return rules_.policy.may_steal(rules_.machine, looker_.here, where, queued);
  }
  /// Tasks that were dealt to `where`. `far_tasks()` gives what a policy is told of them; asked for if it counts.
  template <class FarTasksOf>
  bool may_take_dealt(Location where, std::uint32_t dealt, FarTasksOf far_tasks) const {
    if (!looker_.waits || (rules_.weighs_load && !any_))
      return rules_.policy.may_steal_dealt(rules_.machine, looker_.here, where, far_tasks(), idle_);
    return any_ || (threshold_counts_ && rules_.policy.may_steal(rules_.machine, looker_.here, where, dealt));
  }

 private:
  const SearchRules& rules_;
  const Looker looker_;
  const Idleness& idle_;
  const bool threshold_counts_;
  const bool any_;
};

/// The other locations by rising distance.
template <class World>
typename World::Found find_far(World& world, const Looker& looker, const Idleness& idle, Patience& patience) {
  const SearchRules rules = world.rules();
  const FarLook may(rules, looker, idle, patience.looks());
  const Location* near = world.near();
  for (std::int32_t i = looker.here < 0 ? 0 : 1; i < rules.machine.locations; ++i) {
    const Location where = near[i];
    const std::uint32_t dealt = world.dealt_at(where);
    if (may.may_take_queued(where, world.queued_at(where)))
      if (auto found = world.steal_at(where)) return found;
    if (dealt == 0) continue;
    if (!may.may_take_dealt(where, dealt, [&] { return world.far_tasks(where); })) {
      world.left_alone();
    } else if (auto found = world.take_dealt(where)) {
      if (!looker.waits) patience.steal(idle);
      world.count_stolen(where);
      return found;
    }
  }
  return world.last_resort();
}

/// The search. A World has, for the worker that looks:
///   Found                     a task or none, which converts to false
///   rules(), near()           SearchRules; all locations by rising distance, the worker's own first
///   shares_own_queues()       of the policy
///   now()                     ns
///   take_dealt(where)         Found: the oldest task in the inbox of a location that the worker may run
///   steal_at(where)           Found: from the own queue of another worker that is there
///   steal_anywhere()          Found: from any other worker's own queue
///   dealt_at(where), queued_at(where)   how many tasks wait in the inbox, and in own queues: hints
///   waiting(), created(), served()      tasks in all inboxes; created and dealt ever; run by this worker ever
///   far_tasks(where)          FarTasks
///   anything_waits()          false: looking far away is in vain
///   left_alone()              tasks wait that it may not take yet
///   count_stolen(where)       it has taken a task that was dealt to `where`
///   last_resort()             Found: what belongs to no location
template <class World>
typename World::Found find_by_distance(World& world, const Looker& looker, Patience& patience) {
  if (looker.here >= 0) {
    auto found = world.take_dealt(looker.here);
    if (!found) found = world.steal_at(looker.here);
    if (found) {
      if (patience.waiting()) patience.found_near(world.now());
      return found;
    }
  }
  if (world.shares_own_queues())
    if (auto found = world.steal_anywhere()) return found;
  const std::uint64_t now = world.now();
  if (!looker.last_look && patience.rests(now)) return {};
  const Idleness idle = patience.look(now, world.waiting(), world.created(), world.served());
  if (world.anything_waits())
    if (auto found = find_far(world, looker, idle, patience)) return found;
  patience.rest(world.now());
  return {};
}

}  // namespace hearth::policy
