// Mappers that look at the communication and the machine's tree: treematch (Jeannot and Mercier 2010) and eagermap
// (Cruz et al. 2015), both as Stirb 2018, 2.2.2 describes them. Neither sees loads: groups have equal numbers of
// threads.
//
// Treematch goes from the leaves up: at each level it groups what is left by the number of parts that a unit has,
// with the least communication between groups, then groups the groups. Where units of a level differ (a mask has
// taken cores away), which the paper leaves open, it goes from the root down instead, by the number of leaves of each
// unit. Eagermap makes exactly as many groups as there are cores, of equal size, and is for machines whose units are
// alike, as its paper says.
#include <algorithm>
#include <functional>
#include <numeric>

#include "mappers/grouping.h"
#include "mappers/mapper.h"
#include "mappers/refine.h"

namespace hearth::mappers {
namespace {

/// Positions of each item inside its group, in the order of the items.
std::vector<std::uint32_t> positions(const Groups& group_of) {
  std::vector<std::uint32_t> count(group_of.size() + 1, 0), position;
  for (const std::uint32_t group : group_of) position.push_back(count[group]++);
  return position;
}

/// Groups of groups: `grouped(level, items, edges)` groups what is left into the units above `level`. Returns the
/// leaf of each item.
std::vector<LeafIndex> from_leaves_up(
    const Target& target, std::size_t items, std::vector<Edge> edges,
    const std::function<Groups(std::size_t level, std::size_t items, const std::vector<Edge>& edges)>& grouped) {
  std::vector<LeafIndex> leaf_of(items, 0);
  std::vector<std::uint32_t> now(items);  // by item: the group that it is in by now
  std::iota(now.begin(), now.end(), 0);
  LeafIndex leaves_below = 1;  // of a unit of this level
  std::size_t left = items;
  for (std::size_t level = target.levels().size(); level-- > 0;) {
    const Groups groups = grouped(level, left, edges);
    const std::vector<std::uint32_t> position = positions(groups);
    for (std::size_t i = 0; i < items; ++i) {
      leaf_of[i] += position[now[i]] * leaves_below;
      now[i] = groups[now[i]];
    }
    edges = quotient(edges, groups);
    left = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
    leaves_below *= target.levels()[level].arity;
  }
  return leaf_of;
}

std::size_t units_above(const Target& target, std::size_t level) {
  return level == 0 ? 1 : target.levels()[level - 1].units;
}

/// Shares `items` among the parts of each unit by their numbers of leaves, from the root down.
class FromRootDown {
 public:
  FromRootDown(const Target& target, const std::vector<Edge>& edges, std::size_t items, std::size_t each)
      : target_(target), edges_(edges), each_(each), leaf_of_(items, 0) {
    std::vector<Thread> all(items);
    std::iota(all.begin(), all.end(), 0);
    split(all, 0, 0, static_cast<LeafIndex>(target.size()));
  }
  const std::vector<LeafIndex>& result() const { return leaf_of_; }

 private:
  void split(const std::vector<Thread>& items, std::size_t level, LeafIndex first, LeafIndex last) {
    if (items.empty()) return;
    if (level == target_.levels().size()) {
      for (const Thread item : items) leaf_of_[item] = first;
      return;
    }
    std::vector<LeafIndex> ends;
    for (LeafIndex leaf = first; leaf < last; ++leaf)
      if (leaf + 1 == last || target_.leaves()[leaf + 1].path[level] != target_.leaves()[leaf].path[level])
        ends.push_back(leaf + 1);
    std::vector<std::size_t> room;
    LeafIndex begin = first;
    for (const LeafIndex end : ends) {
      room.push_back((end - begin) * each_);
      begin = end;
    }
    const std::vector<Edge> inner = edges_between(items);
    Groups groups = grow_groups(items.size(), inner, room);
    exchange(groups, items.size(), inner, room);
    begin = first;
    for (std::size_t part = 0; part < ends.size(); ++part) {
      std::vector<Thread> some;
      for (std::size_t i = 0; i < items.size(); ++i)
        if (groups[i] == part) some.push_back(items[i]);
      split(some, level + 1, begin, ends[part]);
      begin = ends[part];
    }
  }

  std::vector<Edge> edges_between(const std::vector<Thread>& items) const {
    std::vector<Thread> number(leaf_of_.size(), kNobody);
    for (std::size_t i = 0; i < items.size(); ++i) number[items[i]] = static_cast<Thread>(i);
    std::vector<Edge> inner;
    for (const Edge& edge : edges_)
      if (number[edge.a] != kNobody && number[edge.b] != kNobody)
        inner.push_back(
            {std::min(number[edge.a], number[edge.b]), std::max(number[edge.a], number[edge.b]), edge.weight});
    return inner;
  }

  const Target& target_;
  const std::vector<Edge>& edges_;
  std::size_t each_;  // items that a leaf may have
  std::vector<LeafIndex> leaf_of_;
};

std::size_t parts_of(std::size_t what, std::size_t size) { return (what + size - 1) / size; }

/// Sizes of `groups` groups that have `items` between them, as equal as can be.
std::vector<std::size_t> equal_sizes(std::size_t items, std::size_t groups) {
  std::vector<std::size_t> sizes(groups, items / groups);
  for (std::size_t g = 0; g < items % groups; ++g) ++sizes[g];
  return sizes;
}

std::vector<LeafIndex> composed(const Groups& groups, const std::vector<LeafIndex>& leaf_of_group) {
  std::vector<LeafIndex> leaf_of;
  for (const std::uint32_t group : groups) leaf_of.push_back(leaf_of_group[group]);
  return leaf_of;
}

}  // namespace

std::vector<LeafIndex> place_by_tree(const Target& target, std::size_t items, const std::vector<Edge>& edges) {
  if (!target.regular()) return FromRootDown(target, edges, items, parts_of(items, target.size())).result();
  return from_leaves_up(target, items, edges,
                        [&](std::size_t level, std::size_t left, const std::vector<Edge>& between) {
                          return best_groups(left, between, units_above(target, level), target.levels()[level].arity);
                        });
}

namespace {

/// See refine.h; each thread counts as one.
Mapping refined(const Graph& graph, const Target& target, std::vector<LeafIndex> leaf_of) {
  if (graph.size() <= kMostRefined && target.size() <= kMostRefined)
    refine(Places(target), graph.edges, std::vector<double>(graph.size(), 1), leaf_of);
  return one_each(leaf_of);
}

}  // namespace

Mapping map_treematch(const Graph& graph, const Target& target) {
  const std::size_t each = parts_of(graph.size(), target.size());
  if (each == 1 || !target.regular()) return refined(graph, target, place_by_tree(target, graph.size(), graph.edges));
  const Groups shared = best_groups(graph.size(), graph.edges, target.size(), each);
  const std::size_t groups = *std::max_element(shared.begin(), shared.end()) + 1;
  return refined(graph, target, composed(shared, place_by_tree(target, groups, quotient(graph.edges, shared))));
}

Mapping map_eagermap(const Graph& graph, const Target& target) {
  if (!target.regular())
    return Mapping::failure("eagermap is for machines whose units are alike, and what may be used of this one is not");
  const std::size_t groups = std::min(graph.size(), target.size());
  const Groups shared = grow_groups(graph.size(), graph.edges, equal_sizes(graph.size(), groups));
  const auto grouped = [&](std::size_t level, std::size_t left, const std::vector<Edge>& between) {
    return grow_groups(left, between, equal_sizes(left, std::min(left, units_above(target, level))));
  };
  return refined(graph, target,
                 composed(shared, from_leaves_up(target, groups, quotient(graph.edges, shared), grouped)));
}

}  // namespace hearth::mappers
