// Mappers that look at loads at most: compact and scatter (Stirb 2018, 2.2.1), and those of Armstrong et al. 1998:
// OLB, LBA and both Greedy ones. A thread takes load / capacity on a core, so a heavier one takes longer everywhere;
// that makes min-min and max-min a matter of sorting.
#include <algorithm>
#include <numeric>

#include "mappers/mapper.h"

namespace hearth::mappers {
namespace {

std::vector<Thread> as_created(const Graph& graph) {
  std::vector<Thread> order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<Thread> by_load(const Graph& graph, bool heavy_first) {
  std::vector<Thread> order = as_created(graph);
  std::stable_sort(order.begin(), order.end(), [&](Thread a, Thread b) {
    return heavy_first ? graph.load[a] > graph.load[b] : graph.load[a] < graph.load[b];
  });
  return order;
}

/// The core where something is least; the first of equals.
template <class Value>
LeafIndex least(const Target& target, const Value& value) {
  LeafIndex best = 0;
  for (LeafIndex leaf = 1; leaf < target.size(); ++leaf)
    if (value(leaf) < value(best)) best = leaf;
  return best;
}

/// Each thread of the order where it ends first.
std::vector<LeafIndex> where_it_ends_first(const Graph& graph, const Target& target, const std::vector<Thread>& order) {
  std::vector<double> ready(target.size(), 0);
  std::vector<LeafIndex> leaf_of(graph.size(), 0);
  for (const Thread thread : order) {
    const auto end = [&](LeafIndex leaf) { return ready[leaf] + graph.load[thread] / target.leaves()[leaf].capacity; };
    const LeafIndex leaf = leaf_of[thread] = least(target, end);
    ready[leaf] = end(leaf);
  }
  return leaf_of;
}

/// All leaves, each as far from those before it as the tree lets it be: units of a level take turns.
std::vector<LeafIndex> far_apart(const Target& target) {
  std::vector<LeafIndex> order(target.size());
  std::iota(order.begin(), order.end(), 0);
  // rank[level]: the how-manieth unit of its parent a leaf is in. What is innermost in the tree is outermost in the
  // order.
  const std::size_t levels = target.levels().size();
  const auto rank = [&](LeafIndex leaf, std::size_t level) {
    LeafIndex first = leaf;  // of the unit of the level above
    while (first > 0 &&
           (level == 0 || target.leaves()[first - 1].path[level - 1] == target.leaves()[leaf].path[level - 1]))
      --first;
    return target.leaves()[leaf].path[level] - target.leaves()[first].path[level];
  };
  std::vector<std::vector<std::uint32_t>> key(target.size());
  for (LeafIndex leaf = 0; leaf < target.size(); ++leaf)
    for (std::size_t level = levels; level-- > 0;) key[leaf].push_back(rank(leaf, level));
  std::stable_sort(order.begin(), order.end(), [&](LeafIndex a, LeafIndex b) { return key[a] < key[b]; });
  return order;
}

}  // namespace

Mapping map_compact(const Graph& graph, const Target& target) {
  const std::size_t threads = graph.size(), leaves = target.size();
  std::vector<LeafIndex> leaf_of;
  // More threads than cores: neighbours share one.
  for (std::size_t i = 0; i < threads; ++i)
    leaf_of.push_back(static_cast<LeafIndex>(threads <= leaves ? i : i * leaves / threads));
  return one_each(leaf_of);
}

Mapping map_scatter(const Graph& graph, const Target& target) {
  const std::vector<LeafIndex> order = far_apart(target);
  std::vector<LeafIndex> leaf_of;
  for (std::size_t i = 0; i < graph.size(); ++i) leaf_of.push_back(order[i % order.size()]);
  return one_each(leaf_of);
}

Mapping map_olb(const Graph& graph, const Target& target) {
  std::vector<double> ready(target.size(), 0);
  std::vector<LeafIndex> leaf_of;
  for (const double load : graph.load) {
    const LeafIndex leaf = least(target, [&](LeafIndex one) { return ready[one]; });
    ready[leaf] += load / target.leaves()[leaf].capacity;
    leaf_of.push_back(leaf);
  }
  return one_each(leaf_of);
}

Mapping map_lba(const Graph& graph, const Target& target) {
  const LeafIndex fastest = least(target, [&](LeafIndex leaf) { return -target.leaves()[leaf].capacity; });
  Mapping mapping = one_each(std::vector<LeafIndex>(graph.size(), fastest));
  if (target.alike() && target.size() > 1)
    mapping.remark =
        "cores are equally fast, and lba does not see what they have to do already: all threads are on the first";
  return mapping;
}

Mapping map_mct(const Graph& graph, const Target& target) {
  return one_each(where_it_ends_first(graph, target, as_created(graph)));
}

Mapping map_min_min(const Graph& graph, const Target& target) {
  return one_each(where_it_ends_first(graph, target, by_load(graph, false)));
}

Mapping map_max_min(const Graph& graph, const Target& target) {
  return one_each(where_it_ends_first(graph, target, by_load(graph, true)));
}

Mapping map_greedy_2(const Graph& graph, const Target& target) {
  const auto ends = [&](const std::vector<LeafIndex>& leaf_of) { return measure(graph, target, leaf_of).largest_load; };
  const std::vector<LeafIndex> min = where_it_ends_first(graph, target, by_load(graph, false));
  const std::vector<LeafIndex> max = where_it_ends_first(graph, target, by_load(graph, true));
  return one_each(ends(max) <= ends(min) ? max : min);
}

}  // namespace hearth::mappers
