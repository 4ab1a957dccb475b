// Where the iterations of loops belong: dynamic and guided loops give them back to the location that ran them
// last.
//
// For teams on several locations, and nonmonotonic schedules; all other loops take loop.cpp's ways. A loop's
// iterations are cut into up to kMostParts parts. A part belongs to the location that ran it first, and to
// another one after that has run it kMoves times in a row: once may be chance. Each member takes the parts
// that belong to its location, from its own static block on and then round; a part that nobody has run
// belongs where that block's member is. So what a static loop has touched, a dynamic one finds at the same
// place. When nothing is left that belongs here, or that a member here is at work on, the member waits for a
// sixteenth of the time that the loop has taken so far, since those from whom it would steal mostly finish by
// then. After that it takes the nearest part that nobody has begun, or half of what the nearest member has
// left.
//
// Which part has been taken is told by its word of `claims`: the number of the loop's instance, counted over
// all remembered loops of the team. A member claims a part by a compare-and-swap from an older number to its
// own; a newer number means that the part, and with it the whole loop, is done. So nothing is set up or
// cleared for an instance, and members may be at different ones. All of them have to use the same words:
// whoever comes first says in `chosen` which RememberedLoop this instance uses. Everything else here is a
// hint, read and written without order: whatever it says, each part is run once.
#pragma once

#include <atomic>
#include <cstdint>

#include "placement/need.h"
#include "runtime/loop/loop.h"
#include "runtime/state/team.h"

namespace hearth::rt {

using placement::Location;

/// A part that was run elsewhere so often in a row belongs there. Of parts that are stolen by chance, one
/// time in twenty, that moves one in eight thousand; a loop whose iterations cost more at some places is
/// balanced after so many instances.
inline constexpr std::uint32_t kMoves = 3;

struct RememberedLoop {
  static constexpr std::uint32_t kMostParts = kMostLoopParts;

  // What loop it is: where it stands, and the values that its variable takes. Read to let another loop
  // inherit.
  std::atomic<const void*> site{nullptr};
  std::atomic<std::uint64_t> base{0}, step{0}, unit{0}, units{0};
  // Location + 1 to which the part belongs; 0: nobody has run it. Changes rarely, so that all members keep
  // its lines.
  alignas(kCacheLinePair) std::atomic<std::uint8_t> homes[kMostParts] = {};
  // Instance << 8 | how often in a row it was not run at home.
  alignas(kCacheLinePair) std::atomic<std::uint64_t> claims[kMostParts] = {};
};

/// The same of a taskloop, whose tasks are cut into parts. Nobody claims these: a range of tasks is a task of
/// the runtime's own and goes from hand to hand (taskloop_range.h).
struct RememberedTaskloop {
  static constexpr std::uint32_t kMostParts = RememberedLoop::kMostParts;

  std::atomic<std::uint64_t> key{0};    // a hash of everything that tells loops apart
  std::atomic<std::uint64_t> used{0};   // LoopMemory::taskloops_met when it was used last
  std::atomic<bool> in_use{false};      // a thread is at the construct; others that meet the same one remember nothing
  std::atomic<std::uint64_t> ticks{0};  // of a task, the last time; 0: unknown
  alignas(kCacheLinePair) std::atomic<std::uint8_t> homes[kMostParts] = {};
  std::atomic<std::uint8_t> strays[kMostParts] = {};  // how often in a row the part was not run at home

  static Block part(std::uint64_t tasks, std::uint64_t number);
  static std::uint64_t part_of(std::uint64_t tasks, std::uint64_t task);
  /// Where a member should run the part; unknown: nobody is where it belongs.
  Location home_of(const Team* team, std::uint64_t tasks, std::uint64_t part) const;
  /// A member at `here` is about to run the first task of the part.
  void runs(const Team* team, std::uint64_t tasks, std::uint64_t part, Location here);

 private:
  // At first, where the member is to whom a static loop would give it: in a team's first region most members
  // have not arrived when a taskloop begins, and where its tasks are run then is chance.
  Location belongs_to(const Team* team, std::uint64_t tasks, std::uint64_t part) const;
};

/// What a team remembers. Made by the primary thread, with the team's other state for worksharing.
struct LoopMemory {
  static constexpr std::uint32_t kLoops = 32;

  // Which RememberedLoop each of the latest instances uses: instance << 8 | its index.
  alignas(kCacheLinePair) std::atomic<std::uint64_t> chosen[Team::kWorkShares] = {};
  // What stands in each: a hash of everything that tells loops apart, and the instance that used it last.
  alignas(kCacheLinePair) std::atomic<std::uint64_t> keys[kLoops] = {};
  std::atomic<std::uint64_t> used[kLoops] = {};
  // Written by the primary thread between regions: members count instances on from here.
  std::uint64_t first_instance = 0;
  RememberedLoop loops[kLoops];

  static constexpr std::uint32_t kTaskloops = 16;
  std::atomic<std::uint64_t> taskloops_met{0};
  RememberedTaskloop taskloops[kTaskloops];
};

/// Null unless the team has several locations.
LoopMemory* make_loop_memory(const Team* team);
void free_loop_memory(LoopMemory* memory);
/// By the primary thread, when members may have met different numbers of loops.
void restart_loop_memory(Team* team);

/// Agrees with the other members on the RememberedLoop of the current instance. False: they are at a later instance already.
bool choose_remembered(Thread* self);

/// False when the loop is none that is remembered; nothing is changed then.
bool begin_remembered(Thread* self, const LoopPlan& plan, std::uint64_t smallest);
/// More iterations into the reserve; false: no part and no range is left.
bool take_remembered(Thread* self);

/// What tells a taskloop from others.
struct TaskloopName {
  const void* body;
  std::uint64_t base, step;   // the values of the loop variable
  std::uint64_t tasks, each;  // how many tasks, and the iterations of most of them
};
/// What is remembered of a taskloop that the current task is at, until it is given back; null: nothing.
RememberedTaskloop* remember_taskloop(Thread* self, const TaskloopName& name);

}  // namespace hearth::rt
