// A dealing: the tasks that creators deal from the first one that is dealt while none waits at any location, until
// nobody deals any more. And the far tasks that a thief is shown, which depend on it.
//
// A member *deals* from the task that it has created and dealt until it looks for a task itself or begins a region.
// Whose mark that is, and how it is counted, is the caller's business; what follows from the numbers is said here, for
// the runtime and the simulator. Pure: any thread, no clock.
#pragma once

#include <cstdint>

#include <algorithm>

#include "policy/shares.h"
#include "policy/task_policy.h"

namespace hearth::policy {

/// Whether a member that begins to deal begins a dealing: nobody else deals, and nothing waits of what was dealt
/// before.
constexpr bool begins_dealing(std::int64_t other_dealers, std::uint32_t waiting) {
  return other_dealers == 0 && waiting == 0;
}

/// A location's share as a dealing begins. `released`: ends of tasks made others ready in the dealing that is over, at
/// any location. Creators have not counted these, so it tells nothing of the next one.
constexpr Share next_share(const Share& last, bool released) { return {.before = released ? 0 : last.dealt}; }

/// What there is at one location.
struct LocationNow {
  Share share;
  std::uint32_t depth = 0;      // tasks that wait in its inbox
  std::uint32_t workers = 0;    // members that are there
  std::uint64_t task_time = 0;  // of a task there, or elsewhere if none has ended there; ns, 0: not known
  std::uint64_t stake = 0;      // what a task that was dealt there loses elsewhere, a mean; ns
};

/// All locations together.
struct DealingNow {
  bool several = false;                // members deal
  bool dealing = false;                // some member deals: the dealing before tells how many tasks there will be,
  bool released = false;               // but nothing where tasks release others
  std::int64_t before = 0, dealt = 0;  // tasks of that one, and of this one
  std::int64_t workers = 0;

  void add(const Share& share, std::int64_t workers_there) {
    released |= share.released;
    before += share.before;
    dealt += share.dealt;
    workers += workers_there;
  }
  std::int64_t tasks() const { return dealing ? before : dealt; }
  /// The sum that a location's load is measured by. Of the first dealing nobody knows what a location's part is: as long
  /// as a creator deals in the order of its data, all that there is belongs to the first few.
  Load::All load(std::uint64_t task_time) const {
    const bool known = !released && (before != 0 || !dealing);
    return {.dealt = known ? std::max(before, dealt) : 0, .workers = workers, .task_time = task_time};
  }
};

/// Tasks that wait at `victim`, for a thief whose location has `own`; null: nobody knows where the thief is.
inline FarTasks far_tasks(const DealingNow& now, const LocationNow& victim, const LocationNow* own) {
  FarTasks far{.depth = victim.depth,
               .task_time = victim.task_time,
               .dealing = now.dealing,
               .several_deal = now.several,
               .workers = victim.workers,
               .stake = victim.stake};
  if (own == nullptr || (now.dealing && now.released)) return far;
  // While tasks are being dealt some for either may be still to come.
  far.surplus = has_surplus({.all = now.tasks(),
                             .workers = now.workers,
                             .victims = now.dealing ? victim.share.expects() : victim.share.has(),
                             .victim_workers = victim.workers,
                             .thiefs = now.dealing ? own->share.expects() : own->share.has(),
                             .thief_workers = own->workers,
                             .released = now.released});
  return far;
}

}  // namespace hearth::policy
