// See btdm_online.h.
#include "policy/btdm_online.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace hearth::policy {

OnlineBtdm::OnlineBtdm(OnlineMachine machine, const OnlineRules& rules)
    : machine_(std::move(machine)), balanced_(rules.balanced), ties_to_first_(rules.ties_to_first) {
  const std::vector<std::int32_t>& nodes = machine_.cores.node_of_core;
  for (std::size_t core = 0; core < nodes.size(); ++core) {
    const std::size_t unit = balanced_ ? machine_.domain_of_core[core] : core;
    if (unit >= units_.size()) units_.resize(unit + 1);
    ++units_[unit].cores;
    if (units_[unit].node < 0) units_[unit].node = nodes[core];
  }
  BtdmMachine as_cores;
  // On one node every core is next in turn.
  for (const Unit& unit : units_) as_cores.node_of_core.push_back(rules.turn_by_core ? 0 : unit.node);
  order_ = btdm_order(as_cores);
}

bool OnlineBtdm::all_closed() const {
  return std::none_of(units_.begin(), units_.end(), [](const Unit& unit) { return unit.open; });
}

std::uint32_t OnlineBtdm::next() {
  for (std::size_t step = 0; step < order_.size(); ++step) {
    const std::uint32_t unit = order_[turn_++ % order_.size()];
    if (units_[unit].open) return unit;
  }
  return order_[0];
}

/// The unit with the fewest threads per core; of equals the next one in turn.
std::uint32_t OnlineBtdm::emptiest() {
  std::size_t best = 0;
  for (std::size_t step = 1; step < order_.size(); ++step) {
    const Unit& one = units_[order_[(turn_ + step) % order_.size()]];
    const Unit& other = units_[order_[(turn_ + best) % order_.size()]];
    if (one.open != other.open) {
      if (one.open) best = step;
      continue;
    }
    if (std::uint64_t{one.threads} * other.cores < std::uint64_t{other.threads} * one.cores) best = step;
  }
  turn_ += best;
  return next();
}

std::uint32_t OnlineBtdm::distance(std::uint32_t a, std::uint32_t b) const {
  const std::int32_t from = units_[a].node, to = units_[b].node;
  if (from == to) return a == b ? 0 : 1;
  const auto size = static_cast<std::int32_t>(machine_.cores.node_distance.size());
  if (from < 0 || to < 0 || from >= size || to >= size) return 2;
  return 1 + machine_.cores.node_distance.at(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
}

std::uint32_t OnlineBtdm::least_loaded(Seat creator) const {
  const bool near_someone = !ties_to_first_ && creator.kind != Seat::anywhere && creator.number < units_.size();
  std::uint32_t best = 0;
  for (std::uint32_t unit = 1; unit < units_.size(); ++unit) {
    if (units_[unit].open != units_[best].open) {
      if (units_[unit].open) best = unit;
      continue;
    }
    const double mine = units_[unit].load / units_[unit].cores, theirs = units_[best].load / units_[best].cores;
    if (mine < theirs ||
        (mine == theirs && near_someone && distance(creator.number, unit) < distance(creator.number, best)))
      best = unit;
  }
  return best;
}

Seat OnlineBtdm::enter(ThreadKind kind, std::int32_t set, double load, Seat creator) {
  if (kind == ThreadKind::unknown || (balanced_ && units_.size() == 1) || all_closed()) return {};
  std::uint32_t unit = 0;
  if (kind == ThreadKind::postponed) {
    unit = least_loaded(creator);
  } else if (kind == ThreadKind::side_by_side && set >= 0) {
    const auto number = static_cast<std::size_t>(set);
    if (number >= sets_.size()) sets_.resize(number + 1);
    Set& mine = sets_[number];
    if (!mine.seated || mine.threads == 0 || !units_[mine.unit].open) {
      mine.unit = balanced_ ? emptiest() : next();
      mine.seated = true;
    }
    // More threads than the compiler could know of: from here on the system balances them.
    if (balanced_ && mine.threads >= units_[mine.unit].cores) return {};
    ++mine.threads;
    unit = mine.unit;
  } else {
    unit = balanced_ ? emptiest() : next();
  }
  ++units_[unit].threads;
  units_[unit].load += load;
  return {balanced_ ? Seat::domain : Seat::core, unit};
}

bool OnlineBtdm::uneven() const {
  const Unit *fullest = nullptr, *emptiest = nullptr;
  for (const Unit& unit : units_) {
    if (!unit.open && unit.threads > 0) return true;
    if (!unit.open) continue;
    if (fullest == nullptr ||
        std::uint64_t{unit.threads} * fullest->cores > std::uint64_t{fullest->threads} * unit.cores)
      fullest = &unit;
    if (emptiest == nullptr ||
        std::uint64_t{unit.threads + 1} * emptiest->cores < std::uint64_t{emptiest->threads + 1} * unit.cores)
      emptiest = &unit;
  }
  return fullest != nullptr &&
         std::uint64_t{emptiest->threads + 1} * fullest->cores < std::uint64_t{fullest->threads} * emptiest->cores;
}

bool OnlineBtdm::better(Seat seat, std::int32_t set, std::uint32_t& unit) {
  if (seat.kind == Seat::anywhere || all_closed()) return false;
  const Unit& here = units_[seat.number];
  const auto number = static_cast<std::size_t>(set);
  if (set >= 0 && number < sets_.size()) {
    if (here.open) return false;
    Set& mine = sets_[number];
    if (!units_[mine.unit].open) {
      mine.unit = balanced_ ? emptiest() : next();
      mine.threads = 0;
    }
    unit = mine.unit;
    return true;
  }
  unit = seat.number;
  for (std::uint32_t other = 0; other < units_.size(); ++other) {
    const Unit &it = units_[other], &best = units_[unit];
    if (!it.open || other == seat.number) continue;
    // Threads for each core, with the one that would move.
    const std::uint64_t there = it.threads + 1, least = unit == seat.number ? here.threads : best.threads + 1;
    const bool leaves_closed = unit == seat.number && !here.open;
    if (leaves_closed || there * best.cores < least * it.cores) unit = other;
  }
  return unit != seat.number;
}

Seat OnlineBtdm::move(Seat seat, std::int32_t set, double load, std::uint32_t unit) {
  leave(seat, set, load);
  ++units_[unit].threads;
  units_[unit].load += load;
  const auto number = static_cast<std::size_t>(set);
  if (set >= 0 && number < sets_.size() && sets_[number].unit == unit) ++sets_[number].threads;
  return {seat.kind, unit};
}

void OnlineBtdm::leave(Seat seat, std::int32_t set, double load) {
  if (seat.kind == Seat::anywhere) return;
  HEARTH_ASSERT(seat.number < units_.size() && units_[seat.number].threads > 0, "seat %u of %zu is left twice",
                seat.number, units_.size());
  --units_[seat.number].threads;
  units_[seat.number].load = std::max(0.0, units_[seat.number].load - load);
  const auto number = static_cast<std::size_t>(set);
  if (set >= 0 && number < sets_.size() && sets_[number].threads > 0 && sets_[number].unit == seat.number)
    --sets_[number].threads;
}

}  // namespace hearth::policy
