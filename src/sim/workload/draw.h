// Numbers from a seed, the same on every machine: SplitMix64 (Steele, Lea and Flood 2014). A value, used by
// one thread.
#pragma once

#include <cstdint>

namespace hearth::sim {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  std::uint64_t word() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Less than `limit`, which is small against 2^64.
  std::uint64_t below(std::uint64_t limit) { return word() % limit; }
  std::uint64_t from_to(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  /// [0, 1)
  double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }
  /// Between two powers of two, each doubling as likely.
  double scale(int least, int most) {
    const auto octave = from_to(0, static_cast<std::uint64_t>(most - least - 1));
    double value = least < 0 ? 1.0 / static_cast<double>(1u << -least) : static_cast<double>(1u << least);
    value *= static_cast<double>(1u << octave);
    return value * (1 + unit());
  }

 private:
  std::uint64_t state_;
};

}  // namespace hearth::sim
