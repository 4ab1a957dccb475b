#include "policy/silent.h"

#include <algorithm>
#include <bit>

namespace hearth::policy {
namespace {

using namespace tuning;

constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

template <class Number, class Other>
void add(std::atomic<Number>& number, Other more) {
  number.store(number.load(kRelaxed) + static_cast<Number>(more), kRelaxed);
}

// 256 times the logarithm to base 2, straight between powers of two.
std::int64_t logarithm(std::uint64_t value) {
  value = std::max<std::uint64_t>(value, 1);
  const int whole = 63 - std::countl_zero(value);
  const std::uint64_t part = (whole >= 8 ? value >> (whole - 8) : value << (8 - whole)) - 256;
  return std::int64_t{256} * whole + static_cast<std::int64_t>(part);
}

constexpr std::uint32_t tag_of(std::uint64_t signature) { return static_cast<std::uint32_t>(signature >> 48); }
constexpr std::size_t entry_of(std::uint64_t signature) { return signature % RunMemory::kEntries; }

}  // namespace

void ArgumentWord::note_change(std::uint64_t value) {
  const std::uint32_t seen = get(seen_);
  const std::uint64_t last = get(kept_[(seen - 1) % kKept]);
  add(seen_, 1);
  if (seen != 0) {
    add(changes_, value != last);
    add(low_changes_, (value ^ last) << 32 != 0);
    add(high_changes_, (value ^ last) >> 32 != 0);
  }
  for (const std::atomic<std::uint64_t>& kept : kept_) {
    const std::uint64_t other = get(kept);
    const std::uint64_t gap = value > other ? value - other : other - value;
    if (other != 0 && value != 0 && gap != 0 && gap < get(gap_)) gap_.store(gap, kRelaxed);
  }
  kept_[seen % kKept].store(value, kRelaxed);
}

std::uint64_t ArgumentWord::reach() const {
  const std::uint64_t gap = get(gap_);
  if (gap == UINT64_MAX) return 1;
  return gap < kLeastBlock ? kReachOfNoBlock : std::min(gap, kMostReach);
}

double Comparison::Side::mean() const {
  return static_cast<double>(sum.load(kRelaxed)) / static_cast<double>(count.load(kRelaxed));
}

double Comparison::Side::square_of_error() const {
  const auto n = static_cast<double>(count.load(kRelaxed));
  const double variance = std::max(0.0, static_cast<double>(squares.load(kRelaxed)) / n - mean() * mean());
  return variance / (n - 1);
}

void Comparison::ran(bool at_home, std::uint64_t time) {
  Side& side = at_home ? home_ : far_;
  const std::int64_t log = logarithm(time);
  add(side.count, 1);
  add(side.sum, log);
  add(side.squares, log * log);
}

Comparison::Answer Comparison::answer() const {
  const std::int64_t homes = home_.count.load(kRelaxed), fars = far_.count.load(kRelaxed);
  if (homes < kComparedTasks || fars < kComparedTasks) return Answer::unknown;
  const double longer = far_.mean() - home_.mean();
  const double error = home_.square_of_error() + far_.square_of_error();
  if (longer >= kLongerLogarithm && longer * longer >= kCertainErrors * kCertainErrors * error)
    return Answer::longer_elsewhere;
  return homes + fars >= kManyCompared ? Answer::the_same : Answer::unknown;
}

void Comparison::forget() {
  for (Side* side : {&home_, &far_})
    for (std::atomic<std::int64_t>* number : {&side->count, &side->sum, &side->squares}) number->store(0, kRelaxed);
}

Location RunMemory::where(std::uint64_t signature) const {
  const std::uint32_t entry = entries_[entry_of(signature)].load(kRelaxed);
  return entry >> 16 == tag_of(signature) ? static_cast<Location>(entry >> 8 & 0xff) - 1 : placement::kUnknown;
}

void RunMemory::ran(std::uint64_t signature, Location here) {
  std::atomic<std::uint32_t>& entry = entries_[entry_of(signature)];
  const std::uint32_t before = entry.load(kRelaxed);
  const Location home = where(signature);
  const std::uint32_t at = tag_of(signature) << 16 | static_cast<std::uint32_t>(here + 1) << 8;
  if (home == here && (before & 0xff) == 0) return;
  const std::uint32_t strays = (before & 0xff) + 1;
  const bool stays = home != placement::kUnknown && home != here && strays < kMovesRun;
  entry.store(stays ? (before & ~0xffu) | strays : at, kRelaxed);
}

bool SilentConstruct::comes_again() {
  add(came_, 1);
  if (get(came_) < kDroppedLooks) return false;
  begin_anew();
  return true;
}

void SilentConstruct::begin_anew() {
  for (std::atomic<std::uint32_t>* number : {&watched_, &came_, &timed_}) number->store(0, kRelaxed);
  time_.store(0, kRelaxed);
  argument_homes_.forget();
  run_homes_.forget();
  by_arguments_.forget();
  by_runs_.forget();
  state_.store(State::watched, kRelaxed);
}

void SilentConstruct::drop() {
  came_.store(0, kRelaxed);
  state_.store(State::dropped, kRelaxed);
}

bool SilentConstruct::tells_tasks_apart(std::size_t count) const {
  return std::any_of(words, words + count, [](const ArgumentWord& word) { return word.varies(); });
}

void SilentConstruct::Homes::add(Location where) {
  if (where < 0) return;
  policy::add(told, 1);
  policy::add(at[where], 1);
}

bool SilentConstruct::Homes::tell_places_apart(std::int32_t locations) const {
  if (get(told) < kToldTasks) return false;
  std::uint32_t most = 0;
  for (const std::atomic<std::uint32_t>& count : at) most = std::max(most, get(count));
  return most <= std::min(kMostAtOnePlace, kMostParts / locations) * get(told);
}

void SilentConstruct::Homes::forget() {
  told.store(0, kRelaxed);
  for (std::atomic<std::uint32_t>& count : at) count.store(0, kRelaxed);
}

// Where the clock tells nothing, a sign that most tasks have, and that names several places, is taken for what it says.
Sign SilentConstruct::judged(const Seen& seen) const {
  if (seen.clock_tells) {
    using Answer = Comparison::Answer;
    if (by_arguments_.answer() == Answer::longer_elsewhere) return Sign::arguments;
    return by_runs_.answer() == Answer::longer_elsewhere ? Sign::runs : Sign::none;
  }
  if (argument_homes_.tell_places_apart(seen.locations) && 2 * get(argument_homes_.told) >= get(watched_))
    return Sign::arguments;
  // Children are best where their parents are, until something is known of their data.
  const bool are_leaves = kLeafPart * get(watched_) <= get(timed_);
  const bool point_nowhere = 4 * get(argument_homes_.told) < get(watched_);
  return run_homes_.tell_places_apart(seen.locations) && are_leaves && point_nowhere ? Sign::runs : Sign::none;
}

bool SilentConstruct::watched(const Seen& seen) {
  if (state() != State::watched) return false;
  add(watched_, 1);
  argument_homes_.add(seen.by_arguments);
  run_homes_.add(seen.by_runs);
  if (seen.time != 0) {
    const std::uint32_t timed = get(timed_) + 1;
    timed_.store(timed, kRelaxed);
    const auto part = static_cast<std::int64_t>(std::min(timed, kTimesFollow));
    const auto old = static_cast<std::int64_t>(get(time_));
    time_.store(static_cast<std::uint64_t>(old + (static_cast<std::int64_t>(seen.time) - old) / part), kRelaxed);
    if (seen.here >= 0 && seen.by_arguments >= 0) by_arguments_.ran(seen.here == seen.by_arguments, seen.time);
    if (seen.here >= 0 && seen.by_runs >= 0) by_runs_.ran(seen.here == seen.by_runs, seen.time);
    if (timed == kTimedAtFirst && get(time_) < kShortTaskInDeals * kDealNs) {
      drop();
      return false;
    }
  }
  if (get(watched_) % kJudgedEvery != 0) return false;
  const Sign sign = judged(seen);
  if (sign != Sign::none) {
    sign_.store(sign, kRelaxed);
    state_.store(State::followed, kRelaxed);
    return true;
  }
  if (get(watched_) >= kMostWatched) drop();
  return false;
}

}  // namespace hearth::policy
