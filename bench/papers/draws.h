// Where in a model's ranges the draws lie, and the seeded numbers behind unbound threads. Pure.
#pragma once

#include <cmath>
#include <cstdint>

#include <vector>

namespace hearth::papers {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_;
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
