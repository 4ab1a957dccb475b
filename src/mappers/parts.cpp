// See parts.h.
#include "mappers/parts.h"

#include <algorithm>
#include <numeric>

#include "mappers/refine.h"

namespace hearth::mappers {
namespace {

/// Units of a level, each with its leaves. Level 0: all leaves are one unit.
std::vector<std::vector<LeafIndex>> units_of(const Target& target, std::size_t level) {
  std::vector<std::vector<LeafIndex>> units;
  for (LeafIndex leaf = 0; leaf < target.size(); ++leaf) {
    const std::size_t unit = level == 0 ? 0 : target.leaves()[leaf].path[level - 1];
    if (unit == units.size()) units.emplace_back();
    units[unit].push_back(leaf);
  }
  return units;
}

/// Levels down to the units that parts are made for.
std::size_t level_for(std::size_t threads, const Target& target) {
  const std::vector<Level>& levels = target.levels();
  if (threads > target.size()) return levels.size();
  std::size_t level = 0;
  while (level < levels.size() && levels[level].units < threads) ++level;
  return level;
}

/// Which unit each part goes to: those that exchange much near each other.
std::vector<std::uint32_t> unit_of_part(const Target& target, const std::vector<std::vector<LeafIndex>>& units,
                                        std::size_t parts, const std::vector<Edge>& between) {
  std::vector<std::uint32_t> unit(parts);
  std::iota(unit.begin(), unit.end(), 0);
  const auto hops = [&](std::uint32_t a, std::uint32_t b) {
    return a == b ? 0 : target.hops(units[a][0], units[b][0]);
  };
  if (units.size() == target.size()) {
    const std::vector<LeafIndex> leaf = place_by_tree(target, parts, between);
    return {leaf.begin(), leaf.end()};
  }
  // Fewer units than leaves are few: exchanges of two parts, while they make hops x weight less.
  const auto cost = [&] {
    double sum = 0;
    for (const Edge& edge : between) sum += edge.weight * hops(unit[edge.a], unit[edge.b]);
    return sum;
  };
  double best = cost();
  for (bool better = parts <= 64; better;) {
    better = false;
    for (std::size_t a = 0; a < parts; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        std::swap(unit[a], unit[b]);
        const double now = cost();
        if (now < best * (1 - 1e-12)) {
          best = now;
          better = true;
        } else {
          std::swap(unit[a], unit[b]);
        }
      }
    }
  }
  return unit;
}

}  // namespace

std::uint32_t parts_for(std::size_t threads, const Target& target) {
  const std::size_t level = level_for(threads, target);
  return level == 0 ? 1 : target.levels()[level - 1].units;
}

Mapping map_parts(const Graph& graph, const Target& target, PartGraph part_graph) {
  const std::size_t level = level_for(graph.size(), target);
  const std::vector<std::vector<LeafIndex>> units = units_of(target, level);
  Groups part_of(graph.size(), 0);
  // Asked for one part, too: a library that is not there shall say so whatever the machine.
  if (const std::string problem = part_graph(graph, static_cast<std::uint32_t>(units.size()), part_of);
      !problem.empty())
    return Mapping::failure(problem);
  if (graph.size() <= kMostRefined && units.size() <= kMostRefined)
    refine(Places(units.size()), graph.edges, graph.load, part_of);
  const std::vector<std::uint32_t> unit = unit_of_part(target, units, units.size(), quotient(graph.edges, part_of));
  std::vector<double> busy(target.size(), 0);
  std::vector<LeafIndex> leaf_of;
  for (Thread t = 0; t < graph.size(); ++t) {
    const std::vector<LeafIndex>& leaves = units[unit[part_of[t]]];
    // An idle leaf, or that with the least load.
    const LeafIndex leaf = *std::min_element(leaves.begin(), leaves.end(),
                                             [&](LeafIndex a, LeafIndex b) { return busy[a] < busy[b]; });
    busy[leaf] += std::max(graph.load[t], 1e-9) / target.leaves()[leaf].capacity;
    leaf_of.push_back(leaf);
  }
  return one_each(leaf_of);
}

}  // namespace hearth::mappers
