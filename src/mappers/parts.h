// From a graph in parts to cores: what `metis` and `zoltan` share.
#pragma once

#include <cstdint>

#include <string>

#include "mappers/grouping.h"
#include "mappers/mapper.h"

namespace hearth::mappers {

/// Parts a graph; empty, or why it cannot.
using PartGraph = std::string (*)(const Graph& graph, std::uint32_t parts, Groups& part_of);
/// What `gpmetis -ptype=rb -ncuts=32 -niter=20` makes.
inline constexpr int kMetisCuts = 32, kMetisIterations = 20;
std::string metis_parts(const Graph& graph, std::uint32_t parts, Groups& part_of);
std::string zoltan_parts(const Graph& graph, std::uint32_t parts, Groups& part_of);

/// How many parts a mapping of so many threads takes: the leaves, or fewer units that have leaves enough.
std::uint32_t parts_for(std::size_t threads, const Target& target);
Mapping map_parts(const Graph& graph, const Target& target, PartGraph part_graph);

}  // namespace hearth::mappers
