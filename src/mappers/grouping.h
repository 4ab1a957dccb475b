// Groups of vertices that exchange much with each other: what treematch and eagermap are made of. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include <vector>

#include "mappers/graph.h"

namespace hearth::mappers {

/// By vertex, its group.
using Groups = std::vector<std::uint32_t>;

/// Groups of these sizes, one after the other: each begins with the vertex that exchanges most with those that are
/// left, and takes in what exchanges most with it. The first of equals. The sizes' sum is `vertices`, or more: the
/// last ones stay short.
Groups grow_groups(std::size_t vertices, const std::vector<Edge>& edges, const std::vector<std::size_t>& sizes);

/// `groups` groups of at most `size` vertices with the least weight between them: exactly up to kExactVertices,
/// beyond by grow_groups() and exchanges of two vertices, while one makes it less.
inline constexpr std::size_t kExactVertices = 12;
Groups best_groups(std::size_t vertices, const std::vector<Edge>& edges, std::size_t groups, std::size_t size);

/// Exchanges two vertices of different groups, or moves one to a group that has room, as long as the weight between
/// groups becomes less; a bounded number of rounds.
void exchange(std::vector<std::uint32_t>& group_of, std::size_t vertices, const std::vector<Edge>& edges,
              const std::vector<std::size_t>& room);

}  // namespace hearth::mappers
