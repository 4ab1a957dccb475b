// What a task's bytes cost at each location, and the cheapest of these: what several policies ask.
//
// Pure, on the caller's stack; any thread.
#pragma once

#include <cstring>

#include <algorithm>

#include "base/cpu.h"
#include "policy/task_policy.h"

namespace hearth::policy {

// Two numbers side by side, which every processor of our architectures adds, multiplies and compares at once.
using Pair = double __attribute__((vector_size(16)));
using Words = std::uint64_t __attribute__((vector_size(16)));
constexpr Pair pair(double a, double b) { return Pair{a, b}; }
template <class Vector>
Vector load_two(const void* from) {
  Vector two;
  std::memcpy(&two, from, sizeof(two));
  return two;
}
inline void store(double* to, Pair two) { std::memcpy(to, &two, sizeof(two)); }

// What one task costs more when it is dealt than when it is kept: some 300 ns for the queue, the cache lines
// of its descriptor, and whom it wakes. Against that stands what a byte costs more from one step of distance
// (a tenth of the local latency) further away: 64 bytes come in about 8 ns more, and a core has some 10 lines
// under way.
inline constexpr std::uint64_t kDealNs = 300;
inline constexpr std::uint64_t kBytesPerStepAndNs = 80;

// The length of a row of prices (task_policy.h), known to the compiler for machines of at most 8 locations,
// which have no loops over rows then.
struct OneRow {
  static constexpr std::int32_t kMost = 8;
  static constexpr std::int32_t row(std::int32_t) { return 8; }
};
struct AnyRow {
  static constexpr std::int32_t kMost = placement::kMaxLocations;
  static constexpr std::int32_t row(std::int32_t locations) { return price_row(locations); }
};

// What a task has at each location; a written byte counts as `kWritten` read ones. Behind the last location
// stand zeros.
template <class Row, std::uint64_t kWritten>
struct Sources {
  alignas(16) std::uint64_t bytes[Row::kMost];
  std::uint64_t sum = 0;

  Sources(const Need& need, std::int32_t locations) {
    const std::int32_t row = Row::row(locations);
    for (std::int32_t i = 0; i < row; i += 8)
      for (std::int32_t k = i; k < i + 8; ++k) bytes[k] = need.read.at[k] + kWritten * need.written.at[k];
    for (std::int32_t i = locations; i < row; ++i) bytes[i] = 0;
    Words sums = {};
    for (std::int32_t i = 0; i < row; i += 2) sums += load_two<Words>(bytes + i);
    sum = sums[0] + sums[1];
  }
  // Population variance above 0, in whole numbers: some location differs from another.
  bool unevenly_spread(std::int32_t locations) const {
    for (std::int32_t i = 1; i < locations; ++i)
      if (bytes[i] != bytes[0]) return true;
    return false;
  }
};

// So many bytes times the largest distance are exact in a double.
inline constexpr int kMostBytesLog2 = 53 - 10;

// The paper's cost of each location n: the sum over i of bytes[i] * distance(n, i). Whole numbers; behind the
// last location stands more than any location's.
template <class Row>
struct Prices {
  alignas(16) double at[Row::kMost];

  template <std::uint64_t kWritten>
  Prices(const MachineView& machine, const Sources<Row, kWritten>& source) {
    const std::int32_t row = Row::row(machine.locations);
    const int too_long = 64 - kMostBytesLog2 - __builtin_clzll(source.sum | 1);
    const int shift = HEARTH_UNLIKELY(too_long > 0) ? too_long : 0;
    // Below 2^52 a number is the low bits of its sum with 2^52 as a double.
    constexpr std::uint64_t kBits = 0x4330000000000000;
    alignas(16) double bytes[Row::kMost];
    for (std::int32_t i = 0; i < row; i += 2) {
      const Words bits = load_two<Words>(source.bytes + i) >> shift | Words{kBits, kBits};
      store(bytes + i, load_two<Pair>(&bits) - pair(0x1p52, 0x1p52));
    }
    // Eight at a time, in registers.
    for (std::int32_t n = 0; n < row; n += 8) {
      Pair sum[4] = {};
      const double* price = machine.price + n;
      for (std::int32_t i = 0; i < row; ++i, price += row) {
        // On a large machine most locations have nothing.
        if (row > 8 && source.bytes[i] == 0) continue;
        const Pair factor = pair(bytes[i], bytes[i]);
        for (int k = 0; k < 4; ++k) sum[k] += factor * load_two<Pair>(price + 2 * k);
      }
      for (int k = 0; k < 4; ++k) store(at + n + 2 * k, sum[k]);
    }
  }

  // The least of the `staffed` locations' prices, of which there is one.
  double least(std::int32_t count, std::uint64_t staffed) const {
    if (HEARTH_LIKELY(staffed == UINT64_MAX >> (64 - count))) {
      Pair least = load_two<Pair>(at);
      for (std::int32_t n = 2; n < Row::row(count); n += 2) {
        const Pair two = load_two<Pair>(at + n);
        least = two < least ? two : least;
      }
      return std::min(least[0], least[1]);
    }
    double least = at[__builtin_ctzll(staffed)];
    while ((staffed &= staffed - 1) != 0) least = std::min(least, at[__builtin_ctzll(staffed)]);
    return least;
  }

  // The cheapest of the `staffed` locations, of which there is one. Of equals the creator's own if
  // `here_counts`, else they take turns.
  Location cheapest(std::int32_t count, Location creator, bool here_counts, std::uint64_t staffed,
                    std::uint32_t turn) const {
    const double best = least(count, staffed);
    if (here_counts && at[creator] == best) return creator;
    Words equals = {}, bits = {1, 2};
    for (std::int32_t n = 0; n < Row::row(count); n += 2, bits <<= 2) {
      const auto same = load_two<Pair>(at + n) == pair(best, best);
      equals |= bits & load_two<Words>(&same);
    }
    const std::uint64_t all = (equals[0] | equals[1]) & staffed;
    const std::uint32_t first = turn % static_cast<std::uint32_t>(count);
    const std::uint64_t from_first = all >> first << first;
    return __builtin_ctzll(from_first != 0 ? from_first : all);
  }
};

}  // namespace hearth::policy
