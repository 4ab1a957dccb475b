// What the creators of tasks have given to each location, and what is too much of it.
//
// Pure: the caller counts, in whatever way, and any thread may ask at any time.
#pragma once

#include <cinttypes>
#include <cstdint>

#include <algorithm>

#include "base/assert.h"

namespace hearth::policy {

/// One location's part of a dealing, which begins when a creator deals its first task while none waits at any
/// location. A stolen task counts for the location that took it.
struct Share {
  std::int64_t dealt = 0;   // to the location so far
  std::int64_t stolen = 0;  // by it from others, less what others have stolen from it
  std::int64_t before = 0;  // dealt to it in the dealing before; 0 if some were released then
  bool released = false;    // the end of another task has made a task ready, which creators do not count

  std::int64_t has() const { return dealt + stolen; }
  /// What it will have if this dealing is like the one before.
  std::int64_t expects() const { return std::max(dealt, before) + stolen; }
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

/// What keeps a task waiting at a location.
struct Load {
  struct All {
    std::int64_t dealt = 0;  // tasks of the dealing before, or of this one if they are more already
    std::int64_t workers = 0;
    std::uint64_t task_time = 0;
  };
  Share share;
  std::int64_t depth = 0;  // tasks that wait there
  std::int64_t workers = 0;

  /// For those before it.
  std::uint64_t queue(const All& all) const { return time(depth, all); }
  /// While a creator deals in the order of its data, one location's queue is long and the next one's empty;
  /// that says nothing. Only what is beyond the location's part does.
  std::uint64_t wait(const All& all) const { return time(beyond_part(share.has(), all), all); }
  std::uint64_t guest_wait(const All& all) const { return time(beyond_part(share.expects(), all), all); }

 private:
  // Of fewer tasks for each worker a part means nothing.
  static constexpr std::int64_t kTelling = 4;

  std::int64_t beyond_part(std::int64_t tasks, const All& all) const {
    HEARTH_ASSERT(all.workers >= 0 && workers >= 0, "%" PRId64 " workers, %" PRId64 " of them here", all.workers,
                  workers);
    if (all.dealt < kTelling * all.workers) return 0;
    return tasks - 9 * all.dealt * workers / (8 * all.workers);
  }
  std::uint64_t time(std::int64_t tasks, const All& all) const {
    if (tasks <= 0) return 0;
    return static_cast<std::uint64_t>(tasks) * all.task_time /
           static_cast<std::uint64_t>(std::max<std::int64_t>(workers, 1));
  }
};

/// A running mean that follows what is new by a quarter; 0: nothing is known yet.
constexpr std::uint64_t running_mean(std::uint64_t mean, std::uint64_t value) {
  return mean == 0 ? value : mean - mean / 4 + value / 4;
}

/// A running mean of how long a creator takes for a task. It may lose its CPU meanwhile, which says nothing.
constexpr std::uint64_t mean_creation(std::uint64_t mean, std::uint64_t time) {
  constexpr std::uint64_t kMostAtFirst = 25'000;  // 10 us
  if (mean == 0) return std::max<std::uint64_t>(std::min(time, kMostAtFirst), 1);
  return std::max<std::uint64_t>(running_mean(mean, std::min(time, 2 * mean)), 1);
}

}  // namespace hearth::policy
