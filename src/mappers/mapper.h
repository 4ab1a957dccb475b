// The mappers: which thread on which core. One interface; all are pure: the same graph and target give the same
// mapping.
//
// A mapping names for each thread the leaves on which it may run. All mappers but `btdm` name one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mappers/graph.h"
#include "mappers/target.h"

namespace hearth::mappers {

struct Mapping {
  std::vector<std::vector<LeafIndex>> leaves;  // by thread: rising, at least one; empty where there is a problem
  std::string problem;                         // why there is none, in a sentence
  std::string remark;                          // what has to be known of it, in a sentence

  bool ok() const { return problem.empty(); }
  static Mapping failure(std::string why) { return {{}, std::move(why), {}}; }
};

/// What a mapper looks at. It ignores the rest.
struct Mapper {
  std::string_view name;
  std::string_view alias;  // another name, or empty
  std::string_view meaning;
  bool sees_loads;
  bool sees_graph;
  Mapping (*map)(const Graph& graph, const Target& target);
};

std::span<const Mapper> all_mappers();
/// By name or alias, case aside; null: there is none.
const Mapper* find_mapper(std::string_view name);
/// "btdm, compact, ..."
std::string mapper_names();

/// One leaf for each thread.
Mapping one_each(const std::vector<LeafIndex>& leaf_of);
/// For threads that may run on several: the least loaded of them, heaviest threads first.
std::vector<LeafIndex> settle(const Graph& graph, const Target& target, const Mapping& mapping);

struct Measures {
  double hop_bytes = 0;     // sum of weight x hops
  double cut = 0;           // weight between threads on different leaves
  double node_cut = 0;      // weight between threads on different NUMA nodes
  double largest_load = 0;  // of a leaf: its threads' load / its capacity
  double ideal_load = 0;    // all load / all capacity: no mapping has less
};
Measures measure(const Graph& graph, const Target& target, const std::vector<LeafIndex>& leaf_of);

/// As treematch places: items (threads, or parts of a graph), no more than there are leaves where each shall have its
/// own.
std::vector<LeafIndex> place_by_tree(const Target& target, std::size_t items, const std::vector<Edge>& edges);

// The mappers themselves, one file for each kind.
Mapping map_compact(const Graph& graph, const Target& target);
Mapping map_scatter(const Graph& graph, const Target& target);
Mapping map_olb(const Graph& graph, const Target& target);
Mapping map_lba(const Graph& graph, const Target& target);
Mapping map_mct(const Graph& graph, const Target& target);
Mapping map_min_min(const Graph& graph, const Target& target);
Mapping map_max_min(const Graph& graph, const Target& target);
Mapping map_greedy_2(const Graph& graph, const Target& target);
Mapping map_treematch(const Graph& graph, const Target& target);
Mapping map_eagermap(const Graph& graph, const Target& target);
Mapping map_btdm(const Graph& graph, const Target& target);
Mapping map_metis(const Graph& graph, const Target& target);
Mapping map_scotch(const Graph& graph, const Target& target);
Mapping map_zoltan(const Graph& graph, const Target& target);

}  // namespace hearth::mappers
