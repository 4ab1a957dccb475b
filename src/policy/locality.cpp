// Tasks go to their data: Algorithms 1 and 2 of Muddukrishna, Jonsson, Brorsson (Scientific Programming,
// 2015).
//
// Where the paper is silent: dealt tasks are stolen later than those in their creator's own queue, see
// may_steal_dealt(); a written byte counts twice, since it travels twice; only locations where the team has a
// member are candidates; of equally cheap ones the creator's own is taken first, then they take turns.
#include <algorithm>

#include "policy/policies.h"
#include "policy/prices.h"

namespace hearth::policy {
namespace {

using namespace tuning;

// Inlined, so that deal() does not carry the reason along.
template <class Row>
[[gnu::always_inline]] inline Choice choose(const MachineView& machine, const Need& need, Location creator, const LoadView& load) {
  const std::int32_t count = machine.locations;
  const Sources<Row, 2> bytes(need, count);
  if (bytes.sum == 0) return {kHere, Why::unknown_place};
  if (machine.significance == Significance::paper && creator >= 0 &&
      (bytes.sum <= machine.cache_per_core[creator] || !bytes.unevenly_spread(count)))
    return {kHere, Why::small_data};

  const std::uint64_t staffed = load.staffed & UINT64_MAX >> (64 - count);
  if (staffed == 0) return {kHere, Why::unknown_place};
  const bool here_counts = creator >= 0 && (staffed >> creator & 1) != 0;
  const Prices<Row> price(machine, bytes);
  const Cheapest best = price.cheapest(count, creator, here_counts, staffed, load.turn);
  if (machine.significance == Significance::paper || !here_counts) return {best.where, Why::dealt};
  // What the best place saves against the creator's; or, when that is the best, against the worst. As a
  // number to choose and not as a branch, which nobody could foretell.
  const float costs[] = {price.at[creator], price.most(count)};
  const float saved = costs[best.own] - best.price;
  const bool stays = saved <= kDealNs * kBytesPerStepAndNs;
  return {stays ? kHere : best.where, stays ? Why::small_gain : Why::dealt};
}

// Of machines of any size.
[[gnu::always_inline]] inline Choice choose_at(const MachineView& machine, const Need& need, Location creator,
                                               const LoadView& load) {
  return machine.locations <= OneRow::kMost ? choose<OneRow>(machine, need, creator, load)
                                            : choose<AnyRow>(machine, need, creator, load);
}

class Locality final : public TaskPolicy {
 public:
  Location deal(const MachineView& machine, const Need& need, Location creator,
                const LoadView& load) const override {
    return choose_at(machine, need, creator, load).where;
  }
  Why why(const MachineView& machine, const Need& need, Location creator, const LoadView& load) const override {
    return choose_at(machine, need, creator, load).why;
  }

  bool may_steal(const MachineView& machine, Location thief, Location victim,
                 std::uint32_t depth) const override {
    if (thief < 0 || thief == victim) return depth != 0;
    switch (machine.threshold) {
      case Threshold::hops: return depth > machine.hops_between(thief, victim) * machine.cores[victim];
      case Threshold::slit: return depth > machine.distance_between(thief, victim);
      case Threshold::none: break;
    }
    return depth != 0;
  }

  // A far task takes a worker away from its own tasks, and these may be about to come: one creator that deals
  // in the order of the data serves one location after the other. So a worker waits first, and the longer the
  // longer tasks take: what is lost by waiting is then in proportion to what is lost by stealing. Patience
  // that is not rewarded runs out. While the others keep up with the creator it is this that all wait for,
  // and stealing would end nothing sooner. A surplus is another matter: its own workers would be at it long
  // after all others have nothing left.
  bool may_steal_dealt(const MachineView& machine, Location thief, Location victim, const FarTasks& far,
                       const Idleness& idle) const override {
    if (far.surplus && may_steal(machine, thief, victim, far.depth)) return true;
    const std::uint64_t task_time = far.task_time != 0 ? far.task_time : kUnknownTaskNs;
    if (idle.time < std::clamp(idle.quiet_patience * task_time, kBrieflyNs, kLongestQuietWaitNs)) return false;
    const std::uint64_t pause = far.dealing ? kLongestDealingPauseNs
                                            : std::clamp(task_time, kBrieflyNs, kLongestDealingPauseNs);
    const bool dealing = idle.since_dealing < pause;
    if (dealing && (idle.others_keep_up() || idle.time < std::min(idle.patience * task_time, kLongestWaitNs)))
      return false;
    if (may_steal(machine, thief, victim, far.depth)) return true;
    return far.depth != 0 && idle.time >= std::clamp(kStuckTasks * task_time, kStuckNs, kLongestWaitNs);
  }
};

constinit const Locality the_locality;

}  // namespace

constinit const TaskPolicy& locality = the_locality;

}  // namespace hearth::policy
