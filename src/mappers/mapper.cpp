// The list of mappers, and what all of their results are measured by.
#include "mappers/mapper.h"

#include <algorithm>
#include <numeric>

#include "base/parse.h"

namespace hearth::mappers {
namespace {

constexpr Mapper kMappers[] = {
    {"btdm", "", "by the threads' classes: autonomous apart, side-by-side together, postponed where least is done",
     true, true, map_btdm},
    {"compact", "", "thread after thread, core after core", false, false, map_compact},
    {"scatter", "", "thread after thread, as far apart as can be", false, false, map_scatter},
    {"olb", "", "each thread, in order, on the core that is free first (opportunistic load balancing)", true, false,
     map_olb},
    {"lba", "met", "each thread on the core that runs it fastest, whatever else runs there (limited best assignment)",
     true, false, map_lba},
    {"mct", "greedy-1", "each thread, in order, where it ends first (minimum completion time)", true, false, map_mct},
    {"min-min", "", "of all threads the one that can end first, again and again", true, false, map_min_min},
    {"max-min", "", "of all threads the one that ends last even at its best, again and again", true, false,
     map_max_min},
    {"greedy-2", "", "the better of min-min and max-min", true, false, map_greedy_2},
    {"treematch", "", "groups of threads matched with the machine's tree, from the cores up", false, true,
     map_treematch},
    {"eagermap", "", "as many groups as cores, each grown thread by thread; then groups of groups", false, true,
     map_eagermap},
    {"metis", "", "METIS parts the graph; parts go to cores as treematch puts them", true, true, map_metis},
    {"scotch", "", "Scotch maps the graph onto the machine's tree", true, true, map_scotch},
    {"zoltan", "", "Zoltan parts the hypergraph of shared objects; parts go to cores as treematch puts them", true,
     true, map_zoltan},
};

}  // namespace

std::span<const Mapper> all_mappers() { return kMappers; }

const Mapper* find_mapper(std::string_view name) {
  for (const Mapper& mapper : kMappers)
    if (same_word(name, mapper.name) || (!mapper.alias.empty() && same_word(name, mapper.alias))) return &mapper;
  return nullptr;
}

std::string mapper_names() {
  std::string names;
  for (const Mapper& mapper : kMappers) names.append(names.empty() ? "" : ", ").append(mapper.name);
  return names;
}

Mapping one_each(const std::vector<LeafIndex>& leaf_of) {
  Mapping mapping;
  for (const LeafIndex leaf : leaf_of) mapping.leaves.push_back({leaf});
  return mapping;
}

std::vector<LeafIndex> settle(const Graph& graph, const Target& target, const Mapping& mapping) {
  std::vector<Thread> order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  // Who has no choice comes first, then heavy ones.
  std::stable_sort(order.begin(), order.end(), [&](Thread a, Thread b) {
    const bool fixed_a = mapping.leaves[a].size() == 1, fixed_b = mapping.leaves[b].size() == 1;
    return fixed_a != fixed_b ? fixed_a : graph.load[a] > graph.load[b];
  });
  std::vector<double> busy(target.size(), 0);
  std::vector<LeafIndex> leaf_of(graph.size(), 0);
  for (const Thread thread : order) {
    const std::vector<LeafIndex>& choice = mapping.leaves[thread];
    leaf_of[thread] = *std::min_element(choice.begin(), choice.end(),
                                        [&](LeafIndex a, LeafIndex b) { return busy[a] < busy[b]; });
    busy[leaf_of[thread]] += graph.load[thread] / target.leaves()[leaf_of[thread]].capacity;
  }
  return leaf_of;
}

Measures measure(const Graph& graph, const Target& target, const std::vector<LeafIndex>& leaf_of) {
  Measures result;
  for (const Edge& edge : graph.edges) {
    const LeafIndex a = leaf_of[edge.a], b = leaf_of[edge.b];
    result.hop_bytes += edge.weight * target.hops(a, b);
    if (a != b) result.cut += edge.weight;
    if (target.leaves()[a].node != target.leaves()[b].node) result.node_cut += edge.weight;
  }
  std::vector<double> busy(target.size(), 0);
  double load = 0, capacity = 0;
  for (Thread thread = 0; thread < graph.size(); ++thread) {
    busy[leaf_of[thread]] += graph.load[thread] / target.leaves()[leaf_of[thread]].capacity;
    load += graph.load[thread];
  }
  for (const Leaf& leaf : target.leaves()) capacity += leaf.capacity;
  result.largest_load = *std::max_element(busy.begin(), busy.end());
  result.ideal_load = load / capacity;
  return result;
}

}  // namespace hearth::mappers
