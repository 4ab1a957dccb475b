// See grouping.h.
#include "mappers/grouping.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace hearth::mappers {
namespace {

constexpr int kMostRounds = 8;

/// For few vertices: the least weight between groups, by dynamic programming over sets of vertices that are grouped
/// already.
class Exact {
 public:
  Exact(std::size_t vertices, const std::vector<Edge>& edges, std::size_t size)
      : vertices_(vertices), size_(size), inside_(std::size_t{1} << vertices, 0) {
    for (std::size_t set = 0; set < inside_.size(); ++set)
      for (const Edge& edge : edges)
        if ((set >> edge.a & 1) != 0 && (set >> edge.b & 1) != 0) inside_[set] += edge.weight;
  }

  Groups solve(std::size_t groups) {
    const std::size_t sets = inside_.size();
    constexpr double kImpossible = -1;
    // kept[g][set]: the most weight inside the groups when g of them hold this set.
    std::vector<std::vector<double>> kept(groups + 1, std::vector<double>(sets, kImpossible));
    std::vector<std::vector<std::uint32_t>> last(groups + 1, std::vector<std::uint32_t>(sets, 0));
    kept[0][0] = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      kept[g + 1] = kept[g];  // a group may stay empty
      for (std::size_t set = 0; set < sets; ++set) {
        if (kept[g][set] < 0) continue;
        const std::size_t rest = (sets - 1) & ~set;
        if (rest == 0) continue;
        const std::size_t first = rest & (~rest + 1);
        for (std::size_t group = rest; group != 0; group = (group - 1) & rest) {
          if ((group & first) == 0 || static_cast<std::size_t>(std::popcount(group)) > size_) continue;
          const double value = kept[g][set] + inside_[group];
          if (value > kept[g + 1][set | group]) {
            kept[g + 1][set | group] = value;
            last[g + 1][set | group] = static_cast<std::uint32_t>(group);
          }
        }
      }
    }
    return trace(last, groups);
  }

 private:
  Groups trace(const std::vector<std::vector<std::uint32_t>>& last, std::size_t groups) const {
    Groups group_of(vertices_, 0);
    std::size_t set = inside_.size() - 1;
    std::uint32_t number = 0;
    for (std::size_t g = groups; g > 0 && set != 0; --g) {
      const std::size_t group = last[g][set];
      if (group == 0) continue;
      for (std::size_t v = 0; v < vertices_; ++v)
        if ((group >> v & 1) != 0) group_of[v] = number;
      ++number;
      set &= ~group;
    }
    return renumbered(group_of);
  }

  /// The groups by their first vertices.
  static Groups renumbered(const Groups& group_of) {
    std::vector<std::uint32_t> number(group_of.size() + 1, UINT32_MAX);
    Groups again;
    std::uint32_t next = 0;
    for (const std::uint32_t group : group_of) {
      if (number[group] == UINT32_MAX) number[group] = next++;
      again.push_back(number[group]);
    }
    return again;
  }

  std::size_t vertices_, size_;
  std::vector<double> inside_;  // by set: the weight between its members
};

}  // namespace

Groups grow_groups(std::size_t vertices, const std::vector<Edge>& edges, const std::vector<std::size_t>& sizes) {
  const Neighbours neighbours(vertices, edges);
  constexpr std::uint32_t kNoGroup = UINT32_MAX;
  Groups group_of(vertices, kNoGroup);
  std::vector<double> open(vertices);  // with those that are left
  for (Thread v = 0; v < vertices; ++v) open[v] = neighbours.total(v);
  std::vector<double> gain(vertices);
  std::size_t left = vertices;
  for (std::uint32_t group = 0; group < sizes.size() && left != 0; ++group) {
    std::fill(gain.begin(), gain.end(), 0);
    for (std::size_t member = 0; member < sizes[group] && left != 0; ++member, --left) {
      const std::vector<double>& value = member == 0 ? open : gain;
      Thread best = kNobody;
      for (Thread v = 0; v < vertices; ++v) {
        if (group_of[v] != kNoGroup) continue;
        // Of those that exchange the same with the group, the one that has least to do with others.
        const bool better = best == kNobody || value[v] > value[best] ||
                            (member != 0 && value[v] == value[best] && open[v] < open[best]);
        if (better) best = v;
      }
      group_of[best] = group;
      for (const auto& [other, weight] : neighbours.of(best)) {
        open[other] -= weight;
        gain[other] += weight;
      }
    }
  }
  return group_of;
}

void exchange(Groups& group_of, std::size_t vertices, const std::vector<Edge>& edges,
              const std::vector<std::size_t>& room) {
  const Neighbours neighbours(vertices, edges);
  std::vector<std::size_t> members(room.size(), 0);
  for (const std::uint32_t group : group_of) ++members[group];
  std::vector<double> to(room.size(), 0);  // of one vertex: what it exchanges with each group
  const auto fill = [&](Thread v) {
    std::fill(to.begin(), to.end(), 0);
    for (const auto& [other, weight] : neighbours.of(v)) to[group_of[other]] += weight;
  };
  const auto between = [&](Thread a, Thread b) {
    double sum = 0;
    for (const auto& [other, weight] : neighbours.of(a)) sum += other == b ? weight : 0;
    return sum;
  };
  for (int round = 0; round < kMostRounds; ++round) {
    bool better = false;
    for (Thread a = 0; a < vertices; ++a) {
      fill(a);
      const double at_home = to[group_of[a]];
      // The group that it would rather be in, and there somebody who leaves for least.
      std::uint32_t wish = group_of[a];
      for (std::uint32_t group = 0; group < room.size(); ++group)
        if (to[group] > to[wish]) wish = group;
      if (wish == group_of[a]) continue;
      const double wins = to[wish] - at_home;
      if (members[wish] < room[wish]) {
        --members[group_of[a]];
        ++members[wish];
        group_of[a] = wish;
        better = true;
        continue;
      }
      for (Thread b = 0; b < vertices; ++b) {
        if (group_of[b] != wish) continue;
        double there = 0, here = 0;
        for (const auto& [other, weight] : neighbours.of(b)) {
          there += group_of[other] == wish ? weight : 0;
          here += group_of[other] == group_of[a] ? weight : 0;
        }
        const double sum = wins + here - there - 2 * between(a, b);
        if (sum <= 1e-12 * (at_home + to[wish] + here + there)) continue;
        std::swap(group_of[a], group_of[b]);
        better = true;
        break;
      }
    }
    if (!better) return;
  }
}

Groups best_groups(std::size_t vertices, const std::vector<Edge>& edges, std::size_t groups, std::size_t size) {
  if (vertices <= kExactVertices) return Exact(vertices, edges, size).solve(std::min(groups, vertices));
  const std::vector<std::size_t> sizes(groups, size);
  Groups group_of = grow_groups(vertices, edges, sizes);
  exchange(group_of, vertices, edges, sizes);
  return group_of;
}

}  // namespace hearth::mappers
