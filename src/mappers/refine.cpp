// See refine.h.
#include "mappers/refine.h"

#include <algorithm>
#include <utility>

namespace hearth::mappers {
namespace {

constexpr int kMostRounds = 50;
/// With so few threads all mappings are tried, as far as that takes no more than so many steps.
constexpr std::size_t kFew = 10;
constexpr std::size_t kMostSteps = 500'000;
/// Smaller gains are rounding.
constexpr double kLeastGain = 1e-9;

class Refining {
 public:
  Refining(const Places& places, const std::vector<Edge>& edges, const std::vector<double>& weight,
           std::vector<std::uint32_t>& place_of)
      : places_(places),
        neighbours_(place_of.size(), edges),
        weight_(weight),
        place_of_(place_of),
        full_(places.levels, 0) {
    in_unit_.assign(places.levels, std::vector<double>(places.count, 0));
    for (std::size_t level = 0; level < places.levels; ++level) {
      for (Thread t = 0; t < place_of.size(); ++t) in_unit_[level][places.unit_of(place_of[t], level)] += weight[t];
      full_[level] = *std::max_element(in_unit_[level].begin(), in_unit_[level].end());
    }
  }

  /// What no unit of a level may exceed.
  const std::vector<double>& full() const { return full_; }

  void run() {
    for (int round = 0; round < kMostRounds; ++round) {
      bool better = false;
      for (Thread t = 0; t < place_of_.size(); ++t) better |= improve(t);
      if (!better) return;
    }
  }

 private:
  /// The best that can be done with this thread alone, or with another one in its place.
  bool improve(Thread t) {
    double best = kLeastGain * std::max(cost(t, place_of_[t]), 1.0);
    std::uint32_t to = place_of_[t];
    Thread with = kNobody;
    for (std::uint32_t place = 0; place < places_.count; ++place) {
      const double gain = cost(t, place_of_[t]) - cost(t, place);
      if (gain > best && fits(t, place, 0)) {
        best = gain;
        to = place;
      }
    }
    for (Thread other = 0; other < place_of_.size(); ++other) {
      if (place_of_[other] == place_of_[t]) continue;
      const double gain = gain_of_exchange(t, other);
      if (gain > best && fits(t, place_of_[other], weight_[other]) && fits(other, place_of_[t], weight_[t])) {
        best = gain;
        with = other;
      }
    }
    if (with != kNobody) {
      const std::uint32_t here = place_of_[t], there = place_of_[with];
      move(t, there);
      move(with, here);
    } else if (to != place_of_[t]) {
      move(t, to);
    } else {
      return false;
    }
    return true;
  }

  /// What the thread would pay at a place, the others being where they are.
  double cost(Thread t, std::uint32_t place) const {
    double sum = 0;
    for (const auto& [other, weight] : neighbours_.of(t)) sum += weight * places_.between(place, place_of_[other]);
    return sum;
  }

  double gain_of_exchange(Thread a, Thread b) const {
    double gain = cost(a, place_of_[a]) + cost(b, place_of_[b]) - cost(a, place_of_[b]) - cost(b, place_of_[a]);
    // What both exchange was taken for free where they would meet; they stay as far apart as they are.
    for (const auto& [other, weight] : neighbours_.of(a))
      if (other == b) gain -= 2 * weight * places_.between(place_of_[a], place_of_[b]);
    return gain;
  }

  /// May the thread go there, if somebody with the weight `leaves` goes away to where it comes from?
  bool fits(Thread t, std::uint32_t place, double leaves) const {
    for (std::size_t level = 0; level < places_.levels; ++level) {
      const std::uint32_t unit = places_.unit_of(place, level);
      if (unit == places_.unit_of(place_of_[t], level)) continue;
      if (in_unit_[level][unit] + weight_[t] - leaves > full_[level] * (1 + kLeastGain)) return false;
    }
    return true;
  }

  void move(Thread t, std::uint32_t place) {
    for (std::size_t level = 0; level < places_.levels; ++level) {
      in_unit_[level][places_.unit_of(place_of_[t], level)] -= weight_[t];
      in_unit_[level][places_.unit_of(place, level)] += weight_[t];
    }
    place_of_[t] = place;
  }

  const Places& places_;
  const Neighbours neighbours_;
  const std::vector<double>& weight_;
  std::vector<std::uint32_t>& place_of_;
  std::vector<std::vector<double>> in_unit_;  // by level and unit: the weight of its threads
  std::vector<double> full_;                  // by level: what no unit may exceed
};

/// Branch and bound over all mappings that respect `full`: thread after thread, no sum followed that is too large
/// already, and of units of which nobody is on yet only the first.
class TryingAll {
 public:
  TryingAll(const Places& places, const std::vector<Edge>& edges, const std::vector<double>& weight,
            const std::vector<double>& full, std::vector<std::uint32_t>& best_places)
      : places_(places),
        weight_(weight),
        full_(full),
        best_places_(best_places),
        place_of_(best_places),
        back_(best_places.size()) {
    for (const Edge& edge : edges) {
      back_[edge.b].push_back(edge);
      best_ += edge.weight * places.between(best_places[edge.a], best_places[edge.b]);
    }
    in_unit_.assign(places.levels, std::vector<double>(places.count, 0));
    occupied_.assign(places.levels, std::vector<std::uint32_t>(places.count, 0));
  }

  void run() { place(0, 0); }

 private:
  void place(Thread thread, double sum) {
    if (sum >= best_ * (1 - kLeastGain) || ++steps_ > kMostSteps) return;
    if (thread == place_of_.size()) {
      best_ = sum;
      best_places_ = place_of_;
      return;
    }
    for (std::uint32_t where = 0; where < places_.count; ++where) {
      if (!may_go(thread, where)) continue;
      double more = 0;
      for (const Edge& edge : back_[thread]) more += edge.weight * places_.between(where, place_of_[edge.a]);
      enter(where, weight_[thread], 1);
      place_of_[thread] = where;
      place(thread + 1, sum + more);
      enter(where, -weight_[thread], ~std::uint32_t{0});
    }
  }

  void enter(std::uint32_t where, double weight, std::uint32_t more) {
    for (std::size_t level = 0; level < places_.levels; ++level) {
      in_unit_[level][places_.unit_of(where, level)] += weight;
      occupied_[level][places_.unit_of(where, level)] += more;
    }
  }

  bool may_go(Thread thread, std::uint32_t where) const {
    for (std::size_t level = 0; level < places_.levels; ++level) {
      const std::uint32_t unit = places_.unit_of(where, level);
      if (in_unit_[level][unit] + weight_[thread] > full_[level] * (1 + kLeastGain)) return false;
      // Units that are alike stand side by side: is the one before empty, too?
      if (!places_.alike || occupied_[level][unit] != 0) continue;
      std::uint32_t before = where;
      while (before > 0 && places_.unit_of(before, level) == unit) --before;
      const bool sibling = places_.unit_of(before, level) != unit &&
                           (level == 0 || places_.unit_of(before, level - 1) == places_.unit_of(where, level - 1));
      if (sibling && occupied_[level][places_.unit_of(before, level)] == 0) return false;
    }
    return true;
  }

  const Places& places_;
  const std::vector<double>&weight_, &full_;
  std::vector<std::uint32_t>& best_places_;
  std::vector<std::uint32_t> place_of_;
  std::vector<std::vector<Edge>> back_;  // by the later of both threads
  std::vector<std::vector<double>> in_unit_;
  std::vector<std::vector<std::uint32_t>> occupied_;  // by level and unit: threads
  double best_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace

Places::Places(const Target& target)
    : count(target.size()),
      levels(target.levels().size()),
      alike(target.regular() && target.plain_tree()),
      hops(count * count, 0) {
  for (LeafIndex a = 0; a < count; ++a) {
    unit.insert(unit.end(), target.leaves()[a].path.begin(), target.leaves()[a].path.end());
    for (LeafIndex b = 0; b < count; ++b) hops[a * count + b] = target.hops(a, b);
  }
}

Places::Places(std::size_t parts) : count(parts), levels(1), alike(true), hops(parts * parts, 1) {
  for (std::uint32_t part = 0; part < parts; ++part) {
    unit.push_back(part);
    hops[part * parts + part] = 0;
  }
}

void refine(const Places& places, const std::vector<Edge>& edges, const std::vector<double>& weight,
            std::vector<std::uint32_t>& place_of) {
  Refining refining(places, edges, weight, place_of);
  refining.run();
  if (place_of.size() <= kFew) TryingAll(places, edges, weight, refining.full(), place_of).run();
}

}  // namespace hearth::mappers
