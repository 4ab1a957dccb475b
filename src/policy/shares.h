// What the creators of tasks have given to each location, and what is too much of it.
//
// Pure: the caller counts, in whatever way, and any thread may ask at any time.
#pragma once

#include <cinttypes>
#include <cstdint>

#include <algorithm>

#include "base/assert.h"
#include "policy/tuning.h"

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

/// With part = all / workers, and has and thief's for each worker of the victim and of the thief:
///   surplus <=> has > (1 + 1/16) part, and has - thief's > part / 8.
/// The second test is not the part alone, since one who creates runs less than its part, and the others more. Where
/// tasks release others the shares tell little of what a location will have:
///   surplus <=> has > (1 + 1/8) part, and thief's < part.
constexpr bool has_surplus(const Shares& shares) {
  if (shares.all == 0) return false;  // nobody knows
  const std::int64_t part = shares.all * shares.victim_workers, has = shares.victims * shares.workers;
  if (shares.released)
    return tuning::kSurplusWhereReleased * has > (tuning::kSurplusWhereReleased + 1) * part &&
           shares.thiefs * shares.workers < shares.all * shares.thief_workers;
  const std::int64_t more = shares.victims * shares.thief_workers - shares.thiefs * shares.victim_workers;
  return tuning::kSurplusPart * has > (tuning::kSurplusPart + 1) * part &&
         tuning::kSurplusOverThief * more * shares.workers > part * shares.thief_workers;
}

/// What keeps a task waiting at a location.
struct Load {
  struct All {
    std::int64_t dealt = 0;  // tasks of the dealing before, or of this one if they are more already
    std::int64_t workers = 0;
    std::uint64_t task_time = 0;  // ns
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
  std::int64_t beyond_part(std::int64_t tasks, const All& all) const {
    HEARTH_ASSERT(all.workers >= 0 && workers >= 0, "%" PRId64 " workers, %" PRId64 " of them here", all.workers,
                  workers);
    if (all.dealt < tuning::kTellingTasks * all.workers) return 0;
    return tasks - (tuning::kLoadPart + 1) * all.dealt * workers / (tuning::kLoadPart * all.workers);
  }
  std::uint64_t time(std::int64_t tasks, const All& all) const {
    if (tasks <= 0) return 0;
    return static_cast<std::uint64_t>(tasks) * all.task_time /
           static_cast<std::uint64_t>(std::max<std::int64_t>(workers, 1));
  }
};

/// A running mean that follows what is new by one part in tuning::kMeanFollows; 0: nothing is known yet.
constexpr std::uint64_t running_mean(std::uint64_t mean, std::uint64_t value) {
  return mean == 0 ? value : mean - mean / tuning::kMeanFollows + value / tuning::kMeanFollows;
}

/// A running mean of how long a creator takes for a task, in ns. It may lose its CPU meanwhile, which says nothing.
constexpr std::uint64_t mean_creation(std::uint64_t mean, std::uint64_t time) {
  if (mean == 0) return std::max<std::uint64_t>(std::min(time, tuning::kMostFirstCreationNs), 1);
  return std::max<std::uint64_t>(running_mean(mean, std::min(time, 2 * mean)), 1);
}

/// How long a creator takes for a task. Belongs to one worker.
class CreationTime {
 public:
  /// It has created a task. `served`: tasks that it has run ever; time that it has spent on these does not count.
  void created(std::uint64_t now, std::uint64_t served) {
    if (served == served_) mean_ = mean_creation(mean_, now - at_);
    at_ = now;
    served_ = served;
  }
  /// ns; 0: not known.
  std::uint64_t mean() const { return mean_; }

 private:
  std::uint64_t at_ = 0;
  std::uint64_t served_ = UINT64_MAX;
  std::uint64_t mean_ = 0;
};

}  // namespace hearth::policy
