// The contract of a task policy: where a ready task goes, and where an idle worker may look.
//
// A policy is a pure object: it sees numbers (what a task needs, how the machine is made and loaded), never
// queues or addresses; it neither blocks nor allocates, and any thread may call it at any time. The runtime
// and the simulator link the very same objects and take them by name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/need.h"
#include "policy/patience.h"
#include "policy/why.h"

namespace hearth::policy {

using placement::Location;
using placement::Need;
inline constexpr Location kHere = -1;  // the creator's own queue

/// An answer of deal(), with the reason.
struct Choice {
  Location where;
  Why why;
};

/// When a task is worth dealing away (HEARTH_SIGNIFICANCE).
enum class Significance : std::uint8_t {
  gain,   // the time that the better place saves is more than what dealing costs
  paper,  // more bytes than a core's part of the last-level cache, unevenly spread (Muddukrishna et al.
          // 2015, 3.2)
};

/// From how many waiting tasks on a far queue may be stolen (HEARTH_STEAL_THRESHOLD).
enum class Threshold : std::uint8_t {
  hops,  // steps of distance times the cores there (what the paper's own runtime did)
  slit,  // the distance as the firmware tells it, local 10
  none,
};

/// The machine in numbers, constant; arrays by location. Distances: the row is who computes, 10 is local.
struct MachineView {
  std::int32_t locations = 0;
  const std::uint32_t* distance = nullptr;  // locations x locations
  const float* price = nullptr;             // the same for sums: see fill_prices()
  const std::uint32_t* hops = nullptr;      // the same as ranks: 0 local, 1 the nearest others…
  const std::uint32_t* cores = nullptr;     // usable ones
  const std::uint64_t* cache_per_core =
      nullptr;  // bytes of the last-level cache divided by its sharers; 0: unknown
  const std::uint64_t* l1_bytes = nullptr;  // a core's first-level data cache; 0: unknown
  const std::uint16_t* vicinity = nullptr;  // the number of the group that the location is in
  std::int32_t homes = 0;                   // how many of the locations hold memory
  Significance significance = Significance::gain;
  Threshold threshold = Threshold::hops;
  double slowdown = 1;  // how many times longer all takes than on a real machine of this kind; not 1: times tell nothing of places

  std::uint32_t distance_between(Location from, Location to) const { return distance[from * locations + to]; }
  std::uint32_t hops_between(Location from, Location to) const { return hops[from * locations + to]; }
  bool in_one_vicinity(Location a, Location b) const { return a < 0 || b < 0 || vicinity[a] == vicinity[b]; }
};

/// How the team is doing just now, as far as the runtime counts it.
struct LoadView {
  std::uint64_t staffed = 0;  // bit n: a member of the team is at location n; tasks are dealt nowhere else
  std::uint32_t turn = 0;     // differs from call to call: which of equals is taken

  // Only for policies that weigh load; by location, in nanoseconds. How long a task has to wait that
  // is dealt there, because of tasks that are beyond the location's part of all: one whose data is there, and
  // another, for which those do not count that are yet to come to their data.
  const std::uint64_t* wait = nullptr;
  const std::uint64_t* guest_wait = nullptr;
  std::uint64_t task_time = 0;    // how long a task takes; 0: not known yet
  std::uint64_t create_time = 0;  // and the creator for each that it creates; 0: not known yet
  std::uint32_t workers = 0;      // of the team
  std::uint32_t dealers = 0;      // of those, how many create tasks just now
  std::uint64_t stake_here = 0;   // what those would lose elsewhere that were dealt to the creator's location
  bool believes = true;  // tasks of its construct that ran elsewhere took longer, or nobody knows: account.h
  bool tries = false;    // and to know it, this one goes where it would not
  bool released = false;  // the end of another task has made it ready
  // Told by the policy: what the task would lose at a usual other location, and where it would lose nothing.
  std::uint64_t* stake = nullptr;
  Location* home = nullptr;
};
static_assert(placement::kMaxLocations <= 64);

/// A task which the end of another one has made ready.
struct Released {
  Location here = kHere;    // where that one ran
  std::uint64_t bytes = 0;  // that it says it touches
  bool of_several = false;  // it has waited for others, too
};

/// What an idle worker knows of tasks that were dealt to another location.
struct FarTasks {
  std::uint32_t depth = 0;  // how many wait there
  std::uint64_t task_time = 0;  // how long one takes there, or elsewhere (ns); 0: not known yet
  bool dealing = false;  // somebody has dealt tasks, and not looked for one since
  bool several_deal = false;  // not one alone has
  bool surplus = false;  // the location has too many: shares.h
  std::uint32_t workers = 1;  // members of the team that are at the location; 0: they have left it
  std::uint64_t stake = 0;    // what one would lose elsewhere, a mean of LoadView::stake
};

class TaskPolicy {
 public:
  /// As users write it in HEARTH_POLICY: the word in base/policies.def.
  const char* name() const;
  /// Called by the worker that makes the task ready, whose location is `creator`. kHere: the task may run
  /// anywhere, and stays in its own deque.
  virtual Location deal(const MachineView& machine, const Need& need, Location creator,
                        const LoadView& load) const = 0;
  /// Whether an idle worker at `thief` may take from `victim` when `depth` tasks wait there.
  virtual bool may_steal(const MachineView& machine, Location thief, Location victim,
                         std::uint32_t depth) const = 0;
  /// Whether an idle worker at `thief` may take from the tasks that were dealt to `victim`. Where may_reach() says yes,
  /// or where nobody works any more at `victim`, it refuses for ever only as long as others take what is dealt.
  virtual bool may_steal_dealt(const MachineView& machine, Location thief, Location victim,
                               const FarTasks& far, const Idleness& idle) const = 0;
  /// Whether an idle worker at `thief` may ever take tasks that wait at `victim`, in an inbox or in a
  /// worker's own queue. The workers of a location may take its own in any case, and one that waits for its
  /// descendants takes them from anywhere: so nobody waits for ever, but a task may have to wait for the one
  /// worker that is at its location.
  virtual bool may_reach(const MachineView&, Location thief, Location victim) const {
    static_cast<void>(thief);
    static_cast<void>(victim);
    return true;
  }
  /// Whether deal() shall be asked about a task of `bytes` as it is created; else it goes to its creator's own queue, and
  /// where its data is is not worked out. Only of policies that weigh load.
  virtual bool asks(const MachineView& machine, const LoadView& load, std::uint64_t bytes) const {
    static_cast<void>(machine);
    static_cast<void>(load);
    static_cast<void>(bytes);
    return true;
  }
  /// The same about a task which the end of another one has made ready.
  virtual bool asks_released(const MachineView& machine, const LoadView& load, const Released& task) const {
    static_cast<void>(machine);
    static_cast<void>(load);
    static_cast<void>(task);
    return true;
  }
  /// For who explains, with what deal() was shown: why it has answered so. A policy may leave it at left or dealt.
  virtual Why why(const MachineView& machine, const Need& need, Location creator, const LoadView& load) const {
    return deal(machine, need, creator, load) == kHere ? Why::left : Why::dealt;
  }
  /// The same when asks() has said no, or with `released` asks_released().
  virtual Why why_not_asked(const LoadView& load, bool released) const {
    static_cast<void>(load);
    static_cast<void>(released);
    return Why::left;
  }
  /// Constant properties that spare the runtime calls on the fast path.
  virtual bool deals_here_always() const { return false; }
  virtual bool one_queue() const { return false; }
  /// LoadView is filled in whole.
  virtual bool weighs_load() const { return false; }
  /// Anybody may steal from any worker's own queue at once, wherever that lies.
  virtual bool shares_own_queues() const { return false; }
  /// may_reach() says no beyond a vicinity (HEARTH_VICINITY). A new task then wakes all sleepers, since the one that is
  /// woken might be one that may not take it.
  virtual bool stays_in_vicinity() const { return false; }

 protected:
  ~TaskPolicy() = default;
};

/// A row or column of MachineView::price: the locations, and more up to a whole number of eights.
constexpr std::int32_t price_row(std::int32_t locations) { return (locations + 7) / 8 * 8; }
/// What a byte of location i costs at n, at price[i * price_row(locations) + n]: the distance, transposed, so
/// that the sums of all n are made side by side; beyond the last location the first one's again. `price` has
/// room for price_row() rows.
void fill_prices(const MachineView& machine, float* price);
/// What is further away counts as so far; firmware has no larger number.
inline constexpr std::uint32_t kLargestDistance = 255;

/// The locations by rising distance from `from`, itself first; equally far ones begin after `from` and go
/// round, so that not everybody steals from the same one first. `order` has room for all.
void order_by_distance(const MachineView& machine, Location from, Location* order);

/// The policy of that name, or null.
const TaskPolicy* find_policy(const char* name);
/// All names, for messages: `index` counts up from 0, null ends.
const TaskPolicy* policy_at(std::size_t index);

}  // namespace hearth::policy
