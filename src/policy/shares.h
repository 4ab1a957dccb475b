// What the creators of tasks have given to each location, and what is too much of it.
//
// Pure: the caller counts, in whatever way, and any thread may ask at any time.
#pragma once

#include <cstdint>

namespace hearth::policy {

/// A dealing begins when a creator deals its first task while none waits at any location. A robbed task
/// counts for the location that took it.
struct Shares {
  std::int64_t all = 0;  // tasks of this dealing, and members of the team
  std::int64_t workers = 0;
  std::int64_t victims = 0;  // those of the location from which a task may be taken
  std::int64_t victim_workers = 0;
  std::int64_t thiefs = 0;  // those of the location that would take it
  std::int64_t thief_workers = 0;
};

/// Whether the victim has more than its part of all tasks, by an eighth, while the thief has less than its
/// own. An eighth more or less is within what creators and single tasks make of any dealing, and not worth a
/// far task.
constexpr bool has_surplus(const Shares& shares) {
  return 8 * shares.victims * shares.workers > 9 * shares.all * shares.victim_workers &&
         shares.thiefs * shares.workers < shares.all * shares.thief_workers;
}

}  // namespace hearth::policy
