#include "policy/advice.h"

namespace hearth::policy {
namespace {

using placement::Kind;

// Tasks whose data is unknown run anywhere, and with them the balance that makes following worth while.
constexpr double kMostlyFollowed = 0.75;
// A task that touches so much of an allocation has it for its own.
constexpr double kWhole = 0.5;
// What more of all tasks touch than one location would run cannot be their own, if they have other data
// besides that is as large.
constexpr double kMany = 1.25;
constexpr double kMain = 0.6;
// And what more than this part of all tasks touch as a whole is nobody's own, whatever else they have.
constexpr double kEverybodys = 0.5;
// So many allocations for each location make parts that are nearly equal.
constexpr std::uint64_t kEnough = 2;
// Few workers: half of a location's.
constexpr double kFew = 2;
// So many of the tasks say where their data is that others are led there, which wait for these.
constexpr double kSomeFollowed = 0.25;

// Where creating takes more of the time than this, the others wait for it, and nobody has the time to ask
// where a task should run.
constexpr double kMostCreating = 0.45;

}  // namespace

bool used_whole(const RegionUse& region) { return region.part >= kWhole; }

Kind advise(const ProgramUse& program, const RegionUse& region) {
  const auto locations = static_cast<std::uint64_t>(program.locations);
  const auto each = static_cast<double>(locations);
  if (!program.first_touch) return Kind::standard;
  // The workers of one location can do it all, with its caches.
  const bool can_follow = program.creating < kMostCreating;
  if (can_follow && region.followed >= kSomeFollowed && kFew * program.busy * each <= program.workers)
    return Kind::nearest;
  const bool many_touch_it = region.tasks * kMany * each > 1;
  const auto pages_each = region.bytes / program.page_bytes / locations;
  // Where it was first used it is used again.
  if (region.followed >= kSomeFollowed && region.touched_by_users) return Kind::standard;
  // Whoever runs a task, all memory serves.
  if (region.followed < kMostlyFollowed) return Kind::fine;
  if (!can_follow) return Kind::fine;
  if (used_whole(region))
    return many_touch_it && (region.main < kMain || region.tasks > kEverybodys) ? Kind::fine : Kind::coarse;
  return pages_each < kEnough ? Kind::coarse : Kind::blocked;
}

}  // namespace hearth::policy
