// Where in a model's ranges the draws lie, and the seeded numbers behind unbound threads. Pure.
#pragma once

#include <cmath>
#include <cstdint>

#include <vector>

#include "sim/workload/draw.h"

namespace hearth::papers {

/// Numbers from a seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : words_(seed) {}
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((words_.word() >> 32) * bound >> 32);
  }

 private:
  sim::Draw words_;
};

/// The `index`th point of an additive recurrence in the unit cube: multiples of the inverse powers of the
/// root of x^(d+1) = x + 1, which spreads evenly for every d and every number of points.
inline std::vector<double> draw(std::size_t dimensions, std::uint32_t index) {
  double root = 2;
  for (int round = 0; round < 64; ++round)
    root = std::pow(1 + root, 1.0 / (static_cast<double>(dimensions) + 1));
  std::vector<double> unit(dimensions);
  double step = 1;
  for (double& value : unit) {
    step /= root;
    const double at = 0.5 + step * (index + 1.0);
    value = at - std::floor(at);
  }
  return unit;
}

}  // namespace hearth::papers
