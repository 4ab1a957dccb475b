// Division by sizes and numbers of locations. Most of these are powers of two, and a division costs as much
// as all else that an owner's computation does.
#pragma once

#include <cstdint>

namespace hearth::placement {

constexpr bool is_power_of_two(std::uint64_t n) { return (n & (n - 1)) == 0; }
constexpr std::uint64_t quotient(std::uint64_t n, std::uint64_t divisor) {
  return is_power_of_two(divisor) ? n >> __builtin_ctzll(divisor) : n / divisor;
}
constexpr std::uint64_t remainder(std::uint64_t n, std::uint64_t divisor) {
  return is_power_of_two(divisor) ? n & (divisor - 1) : n % divisor;
}

}  // namespace hearth::placement
