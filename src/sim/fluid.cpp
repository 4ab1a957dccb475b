#include "sim/fluid.h"

#include <algorithm>
#include <cmath>

namespace hearth::sim {
namespace {

constexpr double kPsPerNs = 1000;

Time after(Time from, double ps) {
  // Rounded up: at its end an activity has moved all its bytes.
  const double whole = std::ceil(ps);
  if (whole >= static_cast<double>(kNever - from)) return kNever - 1;
  return from + static_cast<Time>(whole);
}

}  // namespace

Fluid::Resource Fluid::add_resource(double capacity) {
  pipes_.push_back({capacity});
  return static_cast<Resource>(pipes_.size() - 1);
}

Fluid::Activity Fluid::start(Time now, Time alone, double bytes, std::span<const Use> uses) {
  now_ = std::max(now_, now);
  Activity number;
  if (free_.empty()) {
    number = static_cast<Activity>(flows_.size());
    flows_.emplace_back();
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
  flow.end = after(now_, static_cast<double>(alone));
  order_.insert(std::lower_bound(order_.begin(), order_.end(), number), number);
  change_demand(flow, 1);
  return number;
}

// The demand of a resource that nobody uses is exactly 0 again, so that rounding never adds up.
void Fluid::change_demand(const Flow& flow, double sign) {
  for (const Use& use : uses_of(flow)) {
    Pipe& pipe = pipes_[use.resource];
    shortages_ -= short_of(pipe);
    pipe.users = sign > 0 ? pipe.users + 1 : pipe.users - 1;
    pipe.wanted = pipe.users == 0 ? 0 : pipe.wanted + sign * flow.limit * use.per_byte;
    shortages_ += short_of(pipe);
  }
  if (flow.use_count != 0 && (shortages_ != 0 || shared_)) stale_ = true;
}

void Fluid::settle() {
  if (!stale_) return;
  stale_ = false;
  solve();
}

void Fluid::set_rate(Flow& flow, double rate) {
  if (rate == flow.rate) return;
  flow.left = std::max(0.0, flow.left - flow.rate * static_cast<double>(now_ - flow.since) / kPsPerNs);
  flow.since = now_;
  flow.rate = rate;
  flow.end = after(now_, flow.left / rate * kPsPerNs);
}

void Fluid::fix(Flow& flow, double rate) {
  flow.fixed = true;
  for (const Use& use : uses_of(flow)) {
    Pipe& pipe = pipes_[use.resource];
    pipe.left = std::max(0.0, pipe.left - rate * use.per_byte);
    pipe.weight -= use.per_byte;
    --pipe.users;  // of those without a rate; solve() counts them again
  }
  set_rate(flow, rate);
}

// Water filling: the level rises for all alike; those whose limit it passes stay at their limit, and when a
// resource is used up, its users stay where they are.
void Fluid::solve() {
  ++solved_;
  shared_ = false;
  for (Pipe& pipe : pipes_) {
    pipe.left = pipe.capacity;
    pipe.weight = 0;
    pipe.users = 0;
  }
  std::size_t open = 0;
  for (const Activity number : order_) {
    Flow& flow = flows_[number];
    flow.fixed = flow.use_count == 0;
    open += !flow.fixed;
    for (const Use& use : uses_of(flow)) {
      pipes_[use.resource].weight += use.per_byte;
      ++pipes_[use.resource].users;
    }
  }
  double level = 0;
  while (open != 0) {
    const double before = level;
    level = INFINITY;
    Resource scarce = 0;
    for (Resource i = 0; i < pipes_.size(); ++i) {
      const Pipe& pipe = pipes_[i];
      if (pipe.users == 0 || pipe.weight <= 0 || pipe.left >= level * pipe.weight) continue;
      level = pipe.left / pipe.weight;
      scarce = i;
    }
    level = std::max(level, before);  // what rounding has left of a resource that is used up must stop nobody
    std::size_t fixed = 0;
    for (const Activity number : order_) {
      Flow& flow = flows_[number];
      if (flow.fixed || flow.limit > level) continue;
      fix(flow, flow.limit);
      ++fixed;
    }
    if (fixed == 0) {
      for (const Activity number : order_) {
        Flow& flow = flows_[number];
        if (flow.fixed || std::none_of(uses_of(flow).begin(), uses_of(flow).end(),
                                       [&](const Use& use) { return use.resource == scarce; }))
          continue;
        fix(flow, level);
        shared_ = true;
        ++fixed;
      }
    }
    open -= fixed;
  }
  for (const Activity number : order_)
    for (const Use& use : uses_of(flows_[number])) ++pipes_[use.resource].users;
}

Time Fluid::first_end() const {
  Time first = kNever;
  for (const Activity number : order_) first = std::min(first, flows_[number].end);
  return first;
}

Time Fluid::next_end() {
  // Who is due now is due at any rate: those that end together cost one solution.
  if (stale_ && first_end() > now_) settle();
  return first_end();
}

Fluid::Activity Fluid::end_next() {
  const Time due = next_end();
  const auto at =
      std::find_if(order_.begin(), order_.end(), [&](Activity number) { return flows_[number].end == due; });
  const Activity number = *at;
  Flow& flow = flows_[number];
  now_ = std::max(now_, due);
  order_.erase(at);
  flow.running = false;
  change_demand(flow, -1);
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
  for (const Activity number : order_)
    for (const Use& use : uses_of(flows_[number]))
      if (use.resource == resource) sum += flows_[number].rate * use.per_byte;
  return sum;
}

}  // namespace hearth::sim
