// Tasks go to the home cache from which their data comes fastest: Algorithm 3 of Muddukrishna, Jonsson,
// Brorsson (Scientific Programming, 2015), and stealing inside vicinities (ibid., 4.2).
//
// Where the paper is silent: data counts as coarsely distributed if it is not spread evenly over all homes,
// however it came there; bytes that are read and written count as both; only locations where the team has a
// member are candidates; of equally cheap ones the creator's own is taken first, then they take turns.
#include <algorithm>

#include "policy/policies.h"
#include "policy/prices.h"

namespace hearth::policy {
namespace {

// Every home has some of the bytes, and none has more than the one with least by over half of a mean, which
// is what whole pages or cache lines make of even parts. Then the middle of the machine would be nearest for
// all tasks alike.
bool evenly_spread(const Sources<AnyRow, 1>& source, std::int32_t locations, std::int32_t homes) {
  std::uint64_t least = source.sum, most = 0, parts = 0;
  for (std::int32_t i = 0; i < locations; ++i) {
    if (source.bytes[i] == 0) continue;
    least = std::min(least, source.bytes[i]);
    most = std::max(most, source.bytes[i]);
    ++parts;
  }
  return parts >= static_cast<std::uint64_t>(homes) && most - least <= source.sum / (2 * parts);
}

// Inlined, so that deal() does not carry the reason along.
[[gnu::always_inline]] inline Choice choose(const MachineView& machine, const Need& need, Location creator,
                                            const LoadView& load) {
  const std::int32_t count = machine.locations;
  const Sources<AnyRow, 1> bytes(need, count);
  const std::uint64_t staffed = load.staffed & UINT64_MAX >> (64 - count);
  if (bytes.sum == 0 || staffed == 0) return {kHere, Why::unknown_place};
  if (evenly_spread(bytes, count, machine.homes)) return {kHere, Why::evenly_far};
  if (!need.decided && creator >= 0 && bytes.sum <= machine.l1_bytes[creator]) return {kHere, Why::small_data};
  const bool here_counts = creator >= 0 && (staffed >> creator & 1) != 0;
  return {Prices<AnyRow>(machine, bytes).cheapest(count, creator, here_counts, staffed, load.turn).where, Why::dealt};
}

class HomeCache final : public TaskPolicy {
 public:
  Location deal(const MachineView& machine, const Need& need, Location creator,
                const LoadView& load) const override {
    return choose(machine, need, creator, load).where;
  }
  Why why(const MachineView& machine, const Need& need, Location creator, const LoadView& load) const override {
    return choose(machine, need, creator, load).why;
  }

  bool stays_in_vicinity() const override { return true; }
  bool may_reach(const MachineView& machine, Location thief, Location victim) const override {
    return machine.in_one_vicinity(thief, victim);
  }
  bool may_steal(const MachineView& machine, Location thief, Location victim,
                 std::uint32_t depth) const override {
    return depth != 0 && may_reach(machine, thief, victim);
  }
  bool may_steal_dealt(const MachineView& machine, Location thief, Location victim, const FarTasks& far,
                       const Idleness&) const override {
    return far.depth != 0 && (far.workers == 0 || may_reach(machine, thief, victim));
  }
};

constinit const HomeCache the_home_cache;

}  // namespace

constinit const TaskPolicy& home_cache = the_home_cache;

}  // namespace hearth::policy
