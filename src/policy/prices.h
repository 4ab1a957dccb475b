// What a task's bytes cost at each location, and the cheapest of these: what several policies ask.
//
// Pure, on the caller's stack; any thread.
#pragma once

#include <cstring>

#include <algorithm>

#include "base/cpu.h"
#include "policy/task_policy.h"

namespace hearth::policy {

// Two numbers side by side. Prices are whole numbers in doubles, which every processor of our architectures
// adds, multiplies and compares two at a time.
using Pair = double __attribute__((vector_size(16)));
constexpr Pair pair(double a, double b) { return Pair{a, b}; }
inline Pair load_pair(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}

// Below a price stands the order among equals, so that one comparison tells the best.
inline constexpr int kOrderBits = 7;
inline constexpr double kOrders = 1 << kOrderBits;
static_assert(placement::kMaxLocations < 1 << kOrderBits);
// So many bytes times the largest distance and kOrders are exact in a double.
inline constexpr int kMostBytesLog2 = 53 - kOrderBits - 10;

// The locations that hold some of the bytes; a written one counts as `kWritten` read ones.
template <std::uint64_t kWritten>
struct Sources {
  std::int32_t count = 0;
  Location at[placement::kMaxLocations];
  std::uint64_t bytes[placement::kMaxLocations];
  std::uint64_t sum = 0;

  Sources(const Need& need, std::int32_t locations) {
    for (Location i = 0; i < locations; ++i) {
      const std::uint64_t here = need.read.at[i] + kWritten * need.written.at[i];
      at[count] = i;
      bytes[count] = here;
      count += here != 0;
      sum += here;
    }
  }
  // Population variance above 0, in whole numbers: some location differs from another.
  bool unevenly_spread(std::int32_t locations) const {
    for (std::int32_t i = 1; i < count; ++i)
      if (bytes[i] != bytes[0]) return true;
    return count != locations;
  }
};

// The paper's cost of each location n: the sum over i of bytes[i] * distance(n, i). Times kOrders.
struct Prices {
  alignas(16) double at[placement::kMaxLocations];

  template <std::uint64_t kWritten>
  Prices(const MachineView& machine, const Sources<kWritten>& bytes) {
    const std::int32_t row = price_row(machine.locations);
    const int too_long = 64 - kMostBytesLog2 - __builtin_clzll(bytes.sum | 1);
    const int shift = HEARTH_UNLIKELY(too_long > 0) ? too_long : 0;
    // Eight at a time, in registers.
    for (std::int32_t n = 0; n < row; n += 8) {
      Pair sum[4] = {};
      for (std::int32_t i = 0; i < bytes.count; ++i) {
        const double factor =
            static_cast<double>(static_cast<std::int64_t>(bytes.bytes[i] >> shift)) * kOrders;
        const double* price = machine.price + bytes.at[i] * row + n;
        for (int k = 0; k < 4; ++k) sum[k] += pair(factor, factor) * load_pair(price + 2 * k);
      }
      std::memcpy(at + n, sum, sizeof(sum));
    }
  }

  // The least of the staffed locations' prices, plus its order: 1 for `first`, which is below `count`, then
  // rising and round. kNobody when there is none.
  static constexpr double kNobody = 0x1p1000;
  double least(std::int32_t count, std::int32_t first, std::uint64_t staffed) const {
    static constexpr Pair kAbsent[4] = {pair(kNobody, kNobody), pair(0, kNobody), pair(kNobody, 0),
                                        pair(0, 0)};
    Pair order = pair(1 - first, 2 - first);
    Pair least = pair(kNobody, kNobody);
    for (std::int32_t n = 0; n < count; n += 2) {
      const Pair round = order < 1 ? pair(count, count) : pair(0, 0);
      const Pair key = load_pair(at + n) + order + round + kAbsent[staffed & 3];
      least = key < least ? key : least;
      order += 2;
      staffed >>= 2;
    }
    return std::min(least[0], least[1]);
  }

  // The cheapest of the `staffed` locations, of which there is one. Of equals the creator's own if
  // `here_counts`, else they take turns.
  Location cheapest(std::int32_t count, Location creator, bool here_counts, std::uint64_t staffed,
                    std::uint32_t turn) const {
    const auto first = static_cast<std::int32_t>(turn % static_cast<std::uint32_t>(count));
    double best = least(count, first, staffed);
    if (here_counts) best = std::min(best, at[creator]);
    const auto order = static_cast<std::int32_t>(static_cast<std::int64_t>(best) & ((1 << kOrderBits) - 1));
    return order == 0 ? creator : first + order - 1 < count ? first + order - 1 : first + order - 1 - count;
  }
};

}  // namespace hearth::policy
