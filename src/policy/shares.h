// What the creators of tasks have given to each location, and what is too much of it.
//
// Pure: the caller counts, in whatever way, and any thread may ask at any time.
#pragma once

#include <cstdint>

#include <algorithm>

namespace hearth::policy {

/// One location's part of a dealing, which begins when a creator deals its first task while none waits at any
/// location. A robbed task counts for the location that took it.
struct Share {
  std::int64_t dealt = 0;   // to the location so far
  std::int64_t robbed = 0;  // by it from others, less what others have robbed from it
  std::int64_t before = 0;  // dealt to it in the dealing before; 0 if some were released then
  bool released = false;    // the end of another task has made a task ready, which creators do not count

  std::int64_t has() const { return dealt + robbed; }
  /// What it will have if this dealing is like the one before.
  std::int64_t expects() const { return std::max(dealt, before) + robbed; }
};

struct Shares {
  std::int64_t all = 0;  // tasks of a dealing, and members of the team
  std::int64_t workers = 0;
  std::int64_t victims = 0;  // those of the location from which a task may be taken
  std::int64_t victim_workers = 0;
  std::int64_t thiefs = 0;  // those of the location that would take it
  std::int64_t thief_workers = 0;
  bool released = false;  // there are more tasks than these: ends of others made them ready
};

/// Whether the victim has more than its part of all tasks, by a sixteenth, and each of its workers more than
/// the thief's have, by an eighth of what is one's part: not the part alone, since one who creates runs less
/// than its part, and the others more. So much more or less is within what creators and single tasks make of
/// any dealing, and not worth a far task. Where tasks release others the shares tell little of what a
/// location will have: then it is an eighth, and only for a thief that has less than its part.
constexpr bool has_surplus(const Shares& shares) {
  if (shares.all == 0) return false;  // nobody knows
  const std::int64_t part = shares.all * shares.victim_workers, has = shares.victims * shares.workers;
  if (shares.released)
    return 8 * has > 9 * part && shares.thiefs * shares.workers < shares.all * shares.thief_workers;
  const std::int64_t more = shares.victims * shares.thief_workers - shares.thiefs * shares.victim_workers;
  return 16 * has > 17 * part && 8 * more * shares.workers > part * shares.thief_workers;
}

}  // namespace hearth::policy
