// See pass_time.h.
#include "policy/pass_time.h"

#include <algorithm>

namespace hearth::policy {
namespace {

std::size_t squared(std::int32_t n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

// Bytes by 10^9 bytes a second are nanoseconds. Nothing known: no limit.
double limit(double bytes, double gbs) { return gbs > 0 ? bytes / gbs : 0; }

}  // namespace

std::size_t PassTime::bytes_for(const PlaceTree& places) {
  const auto locations = static_cast<std::size_t>(places.locations());
  return (locations + squared(places.locations()) + static_cast<std::size_t>(places.size())) * sizeof(double);
}

PassTime::PassTime(const PlaceTree& places, const CostModel& costs, void* memory, float fed_cpus)
    : places_(places),
      costs_(costs),
      memory_(static_cast<double*>(memory)),
      pair_(memory_ + places.locations()),
      busy_(pair_ + squared(places.locations())),
      lines_by_byte_(1 / (costs.line_bytes * costs.lines_at_a_time)),
      fed_cpus_(static_cast<double>(fed_cpus)) {
  clear();
}

void PassTime::clear() {
  alone_ = longest_ = sum_ = machine_ = 0;
  threads_ = 0;
  std::fill_n(link_, costs_.links(), 0.0);
  std::fill_n(memory_, places_.locations(), 0.0);
  std::fill_n(pair_, squared(places_.locations()), 0.0);
  std::fill_n(busy_, places_.size(), 0.0);
}

void PassTime::use(Location from, Location to, double read, double written) {
  alone_ += (read * costs_.read_line_ns(from, to) + written * costs_.write_line_ns(from, to)) * lines_by_byte_;
  take(from, to, read, written);
}

void PassTime::take(Location from, Location to, double read, double written) {
  const double served = read + written * costs_.write_occupancy;
  memory_[to] += from == to ? served : served * costs_.remote_occupancy;
  pair_[static_cast<std::size_t>(from * places_.locations() + to)] += read + written;
  machine_ += read + written;
  if (costs_.links() == 0 || from == to) return;
  // A written line comes first and goes back at last.
  for (std::uint64_t way = costs_.route(from, to); way != 0; way &= way - 1)
    link_[__builtin_ctzll(way)] += read + written;
  for (std::uint64_t way = costs_.route(to, from); way != 0; way &= way - 1) link_[__builtin_ctzll(way)] += written;
}

void PassTime::end_thread(PlaceId place, double work_ns) {
  alone_ += work_ns;
  longest_ = std::max(longest_, alone_);
  sum_ += alone_;
  ++threads_;
  for (PlaceId p = place; p != kNoPlace; p = places_[p].parent) {
    // Inside a location the kernel, or the policy that deals there, evens out what is uneven.
    const PlaceId outer = places_[p].parent;
    if (outer == kNoPlace || places_[outer].location == kUnknown) busy_[p] += alone_;
  }
  alone_ = 0;
}

double PassTime::memory_gbs(Location where) const {
  const double known = costs_.memory_gbs(where);
  const PlaceId place = places_.place_of_location(where);
  if (known > 0 || place == kNoPlace) return known;
  return fed_cpus_ * places_[place].cpus / lines_by_byte_ / costs_.read_line_ns(where, where);
}

double PassTime::ns() const {
  const std::int32_t locations = places_.locations();
  double most = std::max(longest_, limit(machine_, costs_.machine_gbs));
  for (PlaceId p = 0; p < places_.size(); ++p)
    if (busy_[p] > most * places_[p].cpus) most = busy_[p] / places_[p].cpus;
  for (std::int32_t link = 0; link < costs_.links(); ++link)
    most = std::max(most, limit(link_[link], costs_.link_gbs(link)));
  for (Location to = 0; to < locations; ++to) {
    most = std::max(most, limit(memory_[to], memory_gbs(to)));
    for (Location from = 0; from < locations; ++from)
      most = std::max(most, limit(pair_[static_cast<std::size_t>(from * locations + to)], costs_.pair_gbs(from, to)));
  }
  return most;
}

}  // namespace hearth::policy
