// What waits at the locations and how long that takes, for policies that weigh load.
//
// Summed up now and then by one of those who read it. Hints, all of them.
#pragma once

#include "policy/task_policy.h"
#include "runtime/locality/team_locality.h"

namespace hearth::rt {

/// What LoadView points to.
struct Waits {
  std::uint64_t own[placement::kMaxLocations];
  std::uint64_t guests[placement::kMaxLocations];
};

/// Sums up anew what is too old.
void refresh_loads(TeamLocality& all, std::uint64_t now);
/// Fills in `load`, except for the waits.
void weigh(const Thread* self, policy::LoadView& load);
/// The same with the waits. `created`: the task is dealt as its creator makes it.
[[gnu::noinline]] void weigh_locations(const Thread* self, bool created, Waits& waits, policy::LoadView& load);
/// The member has run the task, which has a footprint, in so much time.
void note_task_time(const Thread* self, const Task* task, std::uint64_t ns);

}  // namespace hearth::rt
