// What a team keeps when its policy deals tasks to locations: where its members are, an inbox for each location,
// and what is known of the locations' loads.
//
// It belongs to a team and lives as long; teams whose policy never deals, and all teams on a machine with one
// location, have none. A member writes its own location, as every region begins; others read it as a hint: a
// wrong one costs time only.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cacheline.h"
#include "placement/need.h"
#include "runtime/locality/inbox.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// What policies that weigh load see of all locations (LoadView). Refreshed now and then by one of those who
/// read it, so that these share its lines: hints, all of them, ns.
struct alignas(kCacheLinePair) Loads {
  std::atomic<std::uint64_t> until{0};      // when it is old
  std::atomic<std::uint64_t> task_time{0};  // 0: not known
  std::atomic<std::uint64_t> wait[placement::kMaxLocations] = {};
  std::atomic<std::uint64_t> guest_wait[placement::kMaxLocations] = {};
  std::atomic<std::uint64_t> queue[placement::kMaxLocations] = {};  // both, for tasks that others release
};

struct TeamLocality {
  std::int32_t locations = 0;
  std::atomic<std::uint32_t> workers[placement::kMaxLocations] = {};  // members at each location
  std::atomic<std::uint64_t> staffed{0};                              // bit n: workers[n] is not 0
  Inbox* inboxes = nullptr;                                           // one for each location
  std::atomic<std::int32_t> dealers{0};  // members of which Member::deals is true
  // Pages of footprints that were dealt lately, and when what is known of them was last held against the
  // kernel: the region, and the tick of the PageMap's clock.
  static constexpr std::uint32_t kRecent = 64;
  std::atomic<std::uint64_t> recent[kRecent] = {};
  std::atomic<std::uint32_t> checked_epoch{0};
  std::atomic<std::uint32_t> checked_tick{0};
  std::atomic<std::uint64_t> idle_check{0};  // when a member without work does it again (counter_ns())

  Loads loads;

  /// One member more (1) or less (-1) there.
  void count_worker(Location where, int difference);

  std::uint32_t created() const {
    std::uint32_t sum = 0;
    for (std::int32_t i = 0; i < locations; ++i) sum += inboxes[i].created();
    return sum;
  }
  /// How long a task takes at the location; if none has run there, how long one takes elsewhere.
  std::uint64_t task_time(Location where) const {
    std::uint64_t time = inboxes[where].task_time();
    for (std::int32_t i = 0; time == 0 && i < locations; ++i) time = inboxes[i].task_time();
    return time;
  }
  std::uint32_t dealt() const {
    std::uint32_t sum = 0;
    for (std::int32_t i = 0; i < locations; ++i) sum += inboxes[i].size();
    return sum;
  }
};

TeamLocality* make_team_locality();
void free_team_locality(TeamLocality* locality);

/// The member finds out where it is: as a region begins, and before it looks far away.
void locate(Thread* self, Member* member);
/// For the primary thread when the team's size changes: members that are not in the region any more do not
/// count.
void recount_workers(Team* team);

}  // namespace hearth::rt
