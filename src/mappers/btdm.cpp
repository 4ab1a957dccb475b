// `btdm`: policy/btdm.h, asked with a graph and a target.
#include "policy/btdm.h"

#include <algorithm>
#include <numeric>

#include "mappers/mapper.h"

namespace hearth::mappers {
namespace {

using policy::ThreadKind;

static_assert(static_cast<int>(ThreadKind::unknown) == static_cast<int>(ThreadClass::unknown) &&
              static_cast<int>(ThreadKind::autonomous) == static_cast<int>(ThreadClass::autonomous) &&
              static_cast<int>(ThreadKind::side_by_side) == static_cast<int>(ThreadClass::side_by_side) &&
              static_cast<int>(ThreadKind::postponed) == static_cast<int>(ThreadClass::postponed));

policy::BtdmMachine machine_of(const Target& target) {
  policy::BtdmMachine machine;
  int nodes = 0;
  for (const Leaf& leaf : target.leaves()) {
    machine.node_of_core.push_back(leaf.node);
    nodes = std::max(nodes, leaf.node + 1);
  }
  machine.node_distance = topology::Matrix<std::uint32_t>(static_cast<std::size_t>(nodes), 0);
  for (LeafIndex a = 0; a < target.size(); ++a)
    for (LeafIndex b = 0; b < target.size(); ++b) {
      const int from = target.leaves()[a].node, to = target.leaves()[b].node;
      if (from >= 0 && to >= 0 && from != to)
        machine.node_distance.at(static_cast<std::size_t>(from), static_cast<std::size_t>(to)) = target.hops(a, b);
    }
  return machine;
}

}  // namespace

Mapping map_btdm(const Graph& graph, const Target& target) {
  std::vector<policy::BtdmThread> threads;
  std::vector<char> talks(graph.size(), 0);
  for (const Edge& edge : graph.edges) talks[edge.a] = talks[edge.b] = 1;
  const bool classes = std::any_of(graph.kind.begin(), graph.kind.end(),
                                   [](ThreadClass one) { return one != ThreadClass::unknown; });
  for (Thread t = 0; t < graph.size(); ++t) {
    const auto derived = talks[t] != 0 ? ThreadKind::side_by_side : ThreadKind::autonomous;
    threads.push_back({classes ? static_cast<ThreadKind>(graph.kind[t]) : derived, graph.load[t],
                       graph.creator[t] == kNobody ? -1 : static_cast<std::int32_t>(graph.creator[t])});
  }
  std::vector<policy::BtdmLink> links;
  for (const Edge& edge : graph.edges) links.push_back({edge.a, edge.b, edge.weight});
  Mapping mapping;
  mapping.leaves = policy::btdm(threads, links, machine_of(target));
  std::vector<LeafIndex> any(target.size());
  std::iota(any.begin(), any.end(), 0);
  for (std::vector<LeafIndex>& leaves : mapping.leaves)
    if (leaves.empty()) leaves = any;
  if (!classes)
    mapping.remark =
        "the graph has no classes, so btdm takes threads that exchange data for side-by-side and others for autonomous";
  return mapping;
}

}  // namespace hearth::mappers
