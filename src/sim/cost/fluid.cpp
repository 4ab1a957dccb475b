#include "sim/cost/fluid.h"

#include <algorithm>
#include <bit>

namespace hearth::sim {
namespace {

constexpr double kPsPerNs = 1000;
constexpr std::size_t kBits = 64;

Time after(Time from, double ps) {
  // Rounded up: at its end an activity has moved all its bytes.
  if (ps >= 9e18) return kNever - 1;
  const auto whole = static_cast<std::int64_t>(ps);
  const Time up = static_cast<Time>(whole) + (static_cast<double>(whole) < ps);
  return up >= kNever - 1 - from ? kNever - 1 : from + up;
}

template <class Visit>
void for_each_bit(const std::uint64_t* words, std::size_t count, Visit visit) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::uint64_t left = words[i]; left != 0; left &= left - 1)
      visit(static_cast<std::uint32_t>(i * kBits + static_cast<std::size_t>(std::countr_zero(left))));
}

void set(std::uint64_t* words, std::size_t bit) { words[bit / kBits] |= std::uint64_t{1} << bit % kBits; }
void clear(std::uint64_t* words, std::size_t bit) {
  words[bit / kBits] &= ~(std::uint64_t{1} << bit % kBits);
}
bool has(const std::uint64_t* words, std::size_t bit) { return (words[bit / kBits] >> bit % kBits & 1) != 0; }

}  // namespace

Fluid::Resource Fluid::add_resource(double capacity) {
  pipes_.push_back({.capacity = capacity});
  rooms_.emplace_back();
  pipe_words_ = (pipes_.size() + kBits - 1) / kBits;
  short_.resize(pipe_words_);
  part_pipes_.resize(pipe_words_);
  users_.resize(pipes_.size() * words_);
  return static_cast<Resource>(pipes_.size() - 1);
}

void Fluid::add_slot() {
  flows_.emplace_back();
  ends_.push_back(kNever);
  used_.resize(flows_.size() * pipe_words_);
  const std::size_t words = (flows_.size() + kBits - 1) / kBits;
  if (words == words_) return;
  Bits wider(pipes_.size() * words);
  for (std::size_t i = 0; i < pipes_.size(); ++i)
    for (std::size_t k = 0; k < words_; ++k) wider[i * words + k] = users_[i * words_ + k];
  users_.swap(wider);
  words_ = words;
  part_.resize(words);
  open_.resize(words);
}

Fluid::Activity Fluid::start(Time now, Time alone, double bytes, std::span<const Use> uses) {
  now_ = std::max(now_, now);
  Activity number;
  if (free_.empty()) {
    number = static_cast<Activity>(flows_.size());
    add_slot();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[number];
  flow.use_count = bytes > 0 ? static_cast<std::uint32_t>(uses.size()) : 0;
  if (flow.use_count > flow.room) {
    flow.uses = uses_.size();
    flow.room = flow.use_count;
    uses_.resize(flow.uses + flow.room);
  }
  std::copy_n(uses.begin(), flow.use_count, uses_.begin() + static_cast<std::ptrdiff_t>(flow.uses));
  flow.running = true;
  flow.since = now_;
  flow.left = bytes;
  flow.limit = bytes > 0 ? bytes * kPsPerNs / static_cast<double>(std::max<Time>(alone, 1)) : 0;
  flow.rate = flow.limit;
  ends_[number] = after(now_, static_cast<double>(alone));
  ++active_;
  if (flow.use_count != 0) {
    enter(number, true);
    double level = flow.limit;
    for (const Use& use : uses_of(flow)) level = std::min(level, pipes_[use.resource].level);
    set_rate(number, level);
  }
  return number;
}

// The demand for a resource that nobody uses is exactly 0 again, so that rounding never adds up.
void Fluid::enter(Activity number, bool enters) {
  const Flow& flow = flows_[number];
  Word* used = used_by(number);
  const double sign = enters ? 1 : -1;
  bool newly_short = false;
  for (const Use& use : uses_of(flow)) {
    Pipe& pipe = pipes_[use.resource];
    pipe.users = enters ? pipe.users + 1 : pipe.users - 1;
    pipe.wanted = pipe.users == 0 ? 0 : pipe.wanted + sign * flow.limit * use.per_byte;
    pipe.weight = pipe.users == 0 ? 0 : pipe.weight + sign * use.per_byte;
    (enters ? set : clear)(users_of(use.resource), number);
    (enters ? set : clear)(used, use.resource);
    const bool is_short = pipe.wanted > pipe.capacity;
    if (!is_short && !pipe.is_short) continue;
    newly_short |= !pipe.is_short;
    touch(use.resource);
    if (is_short == pipe.is_short) continue;
    pipe.is_short = is_short;
    (is_short ? set : clear)(short_.data(), use.resource);
    if (!is_short) pipe.level = INFINITY;
  }
  if (newly_short) settle_by_ = now_;
  const auto before = [this](Activity a, Activity b) {
    return flows_[a].limit != flows_[b].limit ? flows_[a].limit < flows_[b].limit : a < b;
  };
  const auto at = std::lower_bound(by_limit_.begin(), by_limit_.end(), number, before);
  if (enters)
    by_limit_.insert(at, number);
  else
    by_limit_.erase(at);
}

void Fluid::touch(Resource resource) {
  settle_by_ = std::min(settle_by_, now_ + grain_);
  if (pipes_[resource].touched) return;
  pipes_[resource].touched = true;
  touched_.push_back(resource);
}

void Fluid::settle() {
  if (settle_by_ == kNever) return;
  settle_by_ = kNever;
  gather();
  solve();
}

// All that is joined to a touched resource by resources that are short: part_ and scarce_.
void Fluid::gather() {
  std::fill(part_.begin(), part_.end(), 0);
  std::fill(part_pipes_.begin(), part_pipes_.end(), 0);
  std::fill(open_.begin(), open_.end(), 0);
  scarce_.clear();
  const auto add_users = [this](Resource resource) {
    const Word* users = users_of(resource);
    for (std::size_t i = 0; i < words_; ++i) open_[i] |= users[i];
  };
  const auto add_pipe = [&](Resource resource) {
    if (has(part_pipes_.data(), resource)) return;
    set(part_pipes_.data(), resource);
    scarce_.push_back(resource);
    add_users(resource);
  };
  for (const Resource resource : touched_) {
    pipes_[resource].touched = false;
    if (pipes_[resource].is_short)
      add_pipe(resource);
    else
      add_users(resource);
  }
  touched_.clear();
  // open_ holds those whose resources are yet to be looked at, or were.
  for (std::size_t i = 0; i < words_;) {
    const Word fresh = open_[i] & ~part_[i];
    if (fresh == 0) {
      ++i;
      continue;
    }
    part_[i] |= fresh;
    for_each_bit(&fresh, 1, [&](std::uint32_t bit) {
      const Word* used = used_by(static_cast<Activity>(i * kBits + bit));
      for (std::size_t k = 0; k < pipe_words_; ++k) {
        const Word more = used[k] & short_[k] & ~part_pipes_[k];
        for_each_bit(&more, 1,
                     [&](std::uint32_t pipe) { add_pipe(static_cast<Resource>(k * kBits + pipe)); });
      }
    });
    i = 0;  // earlier words may have new ones
  }
  std::sort(scarce_.begin(), scarce_.end());
}

void Fluid::set_rate(Activity number, double rate) {
  Flow& flow = flows_[number];
  if (rate == flow.rate) return;
  const auto passed = static_cast<double>(static_cast<std::int64_t>(now_ - flow.since));
  flow.left = std::max(0.0, flow.left - flow.rate * passed / kPsPerNs);
  flow.since = now_;
  flow.rate = rate;
  ends_[number] = after(now_, flow.left / rate * kPsPerNs);
}

void Fluid::fix(Activity number, double rate) {
  clear(open_.data(), number);
  const Room each = {rate, 1};
  for (const Use& use : uses_of(flows_[number])) rooms_[use.resource] -= each * use.per_byte;
  set_rate(number, rate);
}

// Water filling: the level rises for all alike; those whose limit it passes stay at their limit, and when a
// resource is used up, its users stay where they are.
void Fluid::solve() {
  ++solved_;
  for (const Resource resource : scarce_) {
    Pipe& pipe = pipes_[resource];
    rooms_[resource] = Room{pipe.capacity, pipe.weight};
    pipe.level = INFINITY;
  }
  const auto any_open = [this](const Word* users) {
    Word any = 0;
    for (std::size_t i = 0; i < words_; ++i) any |= users[i] & open_[i];
    return any != 0;
  };
  double level = 0;
  auto next = by_limit_.begin();
  for (;;) {
    while (next != by_limit_.end() && !has(open_.data(), *next)) ++next;
    if (next == by_limit_.end()) return;
    const double before = level;
    level = INFINITY;
    Resource scarce = 0;
    for (const Resource resource : scarce_) {
      const Room room = rooms_[resource];
      if (room[0] >= level * room[1] || room[1] <= 0 || !any_open(users_of(resource))) continue;
      level = room[0] / room[1];
      scarce = resource;
    }
    level = std::max(level, before);  // what rounding has left of a resource that is used up stops nobody
    if (flows_[*next].limit <= level) {
      for (; next != by_limit_.end() && flows_[*next].limit <= level; ++next)
        if (has(open_.data(), *next)) fix(*next, flows_[*next].limit);
      continue;
    }
    pipes_[scarce].level = level;
    const Word* users = users_of(scarce);
    bool last = true;
    for (std::size_t i = 0; i < words_; ++i) last &= (open_[i] & ~users[i]) == 0;
    if (last) {
      for_each_bit(open_.data(), words_, [&](Activity number) { set_rate(number, level); });
      return;
    }
    for (std::size_t i = 0; i < words_; ++i) {
      const Word of_scarce = open_[i] & users[i];
      for_each_bit(&of_scarce, 1,
                   [&](std::uint32_t bit) { fix(static_cast<Activity>(i * kBits + bit), level); });
    }
  }
}

Time Fluid::first_end() const {
  Time first = kNever;
  for (const Time end : ends_) first = std::min(first, end);
  return first;
}

Time Fluid::next_end(Time until) {
  // Who is due now is due at any rate: those that end together cost one solution.
  Time first = first_end();
  if (settle_by_ < first && settle_by_ <= until) {
    now_ = std::max(now_, settle_by_);
    settle();
    first = first_end();
  }
  return first;
}

Fluid::Activity Fluid::end_next() {
  const Time due = next_end();
  const auto number = static_cast<Activity>(std::find(ends_.begin(), ends_.end(), due) - ends_.begin());
  Flow& flow = flows_[number];
  now_ = std::max(now_, due);
  flow.running = false;
  ends_[number] = kNever;
  if (flow.use_count != 0) enter(number, false);
  --active_;
  free_.push_back(number);
  return number;
}

double Fluid::rate_of(Activity activity) {
  settle();
  return flows_[activity].running ? flows_[activity].rate : 0;
}

double Fluid::load_of(Resource resource) {
  settle();
  double sum = 0;
  for (const Flow& flow : flows_) {
    if (!flow.running) continue;
    for (const Use& use : uses_of(flow))
      if (use.resource == resource) sum += flow.rate * use.per_byte;
  }
  return sum;
}

}  // namespace hearth::sim
