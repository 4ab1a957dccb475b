// What is ours in the mappers of others: at their ends, threads move and change places while that lowers the
// communication and no unit of the machine gets more than the largest of its level had before; with few threads all
// of that is tried. Those mappers were made for thousands of threads; for few their heuristics leave something that
// this finds. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include <functional>
#include <vector>

#include "mappers/graph.h"
#include "mappers/target.h"

namespace hearth::mappers {

/// Where things are: leaves of a target, or parts of a graph that are all equally far from each other.
struct Places {
  std::size_t count = 0;
  std::size_t levels = 0;
  bool alike = false;               // the units of a unit stand for each other: what is in them counts, not which it is
  std::vector<std::uint32_t> unit;  // by place * levels + level; the units of a level have numbers below `count`
  std::vector<std::uint32_t> hops;  // by place * count + place

  explicit Places(const Target& target);
  explicit Places(std::size_t parts);
  std::uint32_t unit_of(std::uint32_t place, std::size_t level) const { return unit[place * levels + level]; }
  std::uint32_t between(std::uint32_t a, std::uint32_t b) const { return hops[a * count + b]; }
};

/// More threads or places are left as they are: a round takes time that is quadratic in them.
inline constexpr std::size_t kMostRefined = 512;

/// `weight`: what a thread counts for where units must not get fuller: its load, or 1.
void refine(const Places& places, const std::vector<Edge>& edges, const std::vector<double>& weight,
            std::vector<std::uint32_t>& place_of);

}  // namespace hearth::mappers
