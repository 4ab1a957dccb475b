// Tasks go where they would end first: to their data, unless the way to it, or the wait there, costs more
// than it saves; and idle workers take what would otherwise wait for longer than the way to its data is.
//
// Five things differ from `locality`. A task that hardly gains by a place stays in its creator's own queue, from which
// anybody may steal at once. Nobody is asked where a task should run while its creator is what all others wait for, nor
// about tasks that find their data in a cache where they were made ready. Where a location has more than its part, its
// tasks go to the next best, or stay where the end of another task has made them ready. An idle worker takes what would wait for longer than it loses elsewhere. And tasks of a
// construct stay where they are made when the clock shows that they lose nothing elsewhere (account.h).
//
// docs/results/adaptive.md says what that is worth, and on what it was tuned.
#include <algorithm>

#include "policy/policies.h"
#include "policy/prices.h"

namespace hearth::policy {
namespace {

using namespace tuning;

double price_per_ns(const MachineView& machine) { return kBytesPerStepAndNs / machine.slowdown; }

template <class Row>
void add_waits(Prices<Row>& price, Location home, const LoadView& load, std::int32_t count, double price_per_ns,
               std::uint64_t slack) {
  for (Location n = 0; n < count; ++n) {
    const std::uint64_t wait = n == home ? load.wait[n] : load.guest_wait[n];
    if (wait > slack) price.at[n] += static_cast<float>(static_cast<double>(wait - slack) * price_per_ns);
  }
  price.repeat_first(count);
}

// Inlined, so that deal() does not carry the reason along.
template <class Row>
[[gnu::always_inline]] inline Choice choose(const MachineView& machine, const Need& need, Location creator, const LoadView& load) {
  const std::int32_t count = machine.locations;
  const Sources<Row, 2> bytes(need, count);
  const std::uint64_t staffed = load.staffed & UINT64_MAX >> (64 - count);
  if (bytes.sum == 0 || staffed == 0) return {kHere, Why::unknown_place};
  Prices<Row> price(machine, bytes);
  double sum = 0, least = price.at[0];
  for (Location n = 0; n < count; ++n) {
    sum += price.at[n];
    least = std::min<double>(least, price.at[n]);
  }
  const double stake = sum / count - least;
  if (stake <= kEvenly * least) return {kHere, Why::evenly_far};
  const double per_ns = price_per_ns(machine);
  *load.stake = static_cast<std::uint64_t>(stake / per_ns);

  const bool here_counts = creator >= 0 && (staffed >> creator & 1) != 0;
  Location best = price.cheapest(count, creator, here_counts, staffed, load.turn).where;
  if (load.home != nullptr) *load.home = best;
  // Where all is slowed down times tell nothing of places.
  if (machine.slowdown == 1 && load.tries) return {load.believes ? kHere : best, Why::tried};
  if (machine.slowdown == 1 && !load.believes) return {kHere, Why::no_slower};
  const std::uint64_t slack = kSlackTasks * load.task_time;
  if (load.wait[best] > slack) {
    add_waits(price, best, load, count, per_ns, slack);
    const Location next_best = price.cheapest(count, creator, here_counts, staffed, load.turn).where;
    // Here some of its data is in a cache, and whoever is idle takes it.
    if (load.released && next_best != best) return {kHere, Why::crowded};
    best = next_best;
  }
  if (!here_counts) return {best, Why::dealt};
  // It is where its data is, among others who create: in its own queue it comes next, and idle workers take the oldest.
  if (best == creator && load.dealers > 1) return {kHere, Why::here_already};
  // What the best place saves against the creator's; or, when that is the best, against a usual one.
  const double gain = best == creator ? stake : price.at[creator] - price.at[best];
  const double worth = std::max(kDealNs * machine.slowdown, kLeastGainPart * static_cast<double>(load.task_time));
  if (gain <= worth * per_ns) return {kHere, Why::small_gain};
  return {best, Why::dealt};
}

// Of machines of any size.
[[gnu::always_inline]] inline Choice choose_at(const MachineView& machine, const Need& need, Location creator,
                                               const LoadView& load) {
  return machine.locations <= OneRow::kMost ? choose<OneRow>(machine, need, creator, load)
                                            : choose<AnyRow>(machine, need, creator, load);
}

bool is_long_enough(const LoadView& load) {
  return load.task_time != 0 && load.task_time + load.stake_here >= kShortTaskInDeals * kDealNs;
}

class Adaptive final : public TaskPolicy {
 public:
  bool weighs_load() const override { return true; }
  bool shares_own_queues() const override { return true; }

  // While workers run tasks faster than they are created, what dealing takes is lost by all, and nothing that
  // it saves is gained by anybody. If tasks stayed with their creator they would run anywhere, and take so
  // much longer. Until a task has ended nobody knows how long they take, and many programs are over by then.
  bool asks(const MachineView& machine, const LoadView& load, std::uint64_t bytes) const override {
    if (load.task_time == 0) return static_cast<double>(bytes) * machine.slowdown >= kLargeUntimedBytes;
    return is_long_enough(load) &&
           (load.task_time + load.stake_here) * std::max(load.dealers, 1u) >= load.create_time * load.workers;
  }

  // What was ended has touched the same data as a rule, and left it in the caches here; of several predecessors the one
  // that ends last has touched only a part.
  bool asks_released(const MachineView& machine, const LoadView& load, const Released& task) const override {
    const std::uint64_t part = task.of_several ? kPartOfSeveral : 1;
    return is_long_enough(load) && (task.here < 0 || task.bytes > machine.cache_per_core[task.here] / part);
  }

  Location deal(const MachineView& machine, const Need& need, Location creator,
                const LoadView& load) const override {
    return choose_at(machine, need, creator, load).where;
  }
  Why why(const MachineView& machine, const Need& need, Location creator, const LoadView& load) const override {
    return choose_at(machine, need, creator, load).why;
  }
  Why why_not_asked(const LoadView& load, bool released) const override {
    if (load.task_time == 0) return Why::untimed;
    if (!is_long_enough(load)) return Why::short_task;
    return released ? Why::in_cache : Why::creator_awaited;
  }

  bool may_steal(const MachineView&, Location, Location, std::uint32_t depth) const override {
    return depth != 0;
  }

  // Gained is what the last of the tasks there would wait, lost what one costs more here. As a rule an idle worker takes
  // what gains, at once. While one member alone deals, tasks for it may be about to come, and it waits for these, in
  // proportion to what a task loses elsewhere. What does not gain it takes when something is wrong with those for whom it waits.
  bool may_steal_dealt(const MachineView& machine, Location, Location, const FarTasks& far,
                       const Idleness& idle) const override {
    if (far.depth == 0 || far.workers == 0) return far.depth != 0;
    const double loss = static_cast<double>(far.stake) + kStealNs * machine.slowdown;
    const double task_time = far.task_time != 0 ? static_cast<double>(far.task_time) : kUnknownTaskInLosses * loss;
    const double waited = static_cast<double>(idle.time);
    const double briefly = std::min<double>(kBrieflyNs, kBrieflyInLosses * loss);
    // As if all there had just begun a task, since most begin together.
    const bool gains = (far.depth + far.workers - 1) / far.workers * task_time > loss;
    if (gains && (far.surplus || far.several_deal)) return true;
    const double pause = far.dealing ? kLongestDealingPauseNs
                                     : std::clamp<double>(task_time, briefly, kLongestDealingPauseNs);
    if (static_cast<double>(idle.since_dealing) < pause) {
      const double each = std::min(task_time, loss / kMuchLost);
      const double patience = each * std::min(idle.patience, kMostTasksWaited);
      if (idle.others_keep_up() || waited < std::min<double>(patience, kLongestWaitNs)) return false;
    }
    if (gains) return true;
    const double stuck = std::min(kStuckTasks * task_time, kPatienceInLosses * loss) + kStuckInBrieflies * briefly;
    return waited >= std::min<double>(stuck, kLongestWaitNs);
  }
};

constinit const Adaptive the_adaptive;

}  // namespace

constinit const TaskPolicy& adaptive = the_adaptive;

}  // namespace hearth::policy
