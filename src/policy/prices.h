// What a task's bytes cost at each location, and the cheapest of these: what several policies ask.
//
// Pure, on the caller's stack; any thread.
#pragma once

#include <cinttypes>
#include <cstring>

#include <algorithm>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/assert.h"
#include "base/cpu.h"
#include "placement/quotient.h"
#include "policy/task_policy.h"

namespace hearth::policy {

// Numbers side by side, which every processor of our architectures adds, multiplies and compares at once.
using Words = std::uint64_t __attribute__((vector_size(16)));
using Halves = std::uint32_t __attribute__((vector_size(16)));
using Integers = std::int32_t __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(16)));
constexpr Floats four(float n) { return Floats{n, n, n, n}; }
template <class Vector>
Vector load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

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
    for (std::int32_t i = 0; i < row; i += 2) sums += load<Words>(bytes + i);
    sum = sums[0] + sums[1];
  }
  // Population variance above 0, in whole numbers: some location differs from another.
  bool unevenly_spread(std::int32_t locations) const {
    for (std::int32_t i = 1; i < locations; ++i)
      if (bytes[i] != bytes[0]) return true;
    return false;
  }
};

// A float holds 24 bits. Those that a distance does not take are left for the bytes.
inline constexpr int kBytesBits = 24 - 8;
static_assert(kLargestDistance < 1 << 8);

// How many bits of all bytes to leave out: those that are too many, in fours, since the tasks of a program
// are of much the same size, and a branch that can be foretold costs less than to wait for the sum.
inline int bits_to_drop(std::uint64_t sum) {
  if (sum >> kBytesBits == 0) return 0;
  if (sum >> (kBytesBits + 4) == 0) return 4;
  if (sum >> (kBytesBits + 8) == 0) return 8;
  return (64 - kBytesBits - __builtin_clzll(sum) + 3) / 4 * 4;
}

struct Cheapest {
  Location where;
  float price;
  bool own;  // it is the creator's
};

// The paper's cost of each location n: the sum over i of bytes[i] * distance(n, i), of bytes that are whole
// multiples of some small part of all of them, so that sums are exact and equals are equal. Behind the last
// location stands the first one's again.
template <class Row>
struct Prices {
  alignas(16) float at[Row::kMost];

  template <std::uint64_t kWritten>
  Prices(const MachineView& machine, const Sources<Row, kWritten>& source) {
    const std::int32_t row = Row::row(machine.locations);
    const int shift = bits_to_drop(source.sum);
    const Floats unit = four(static_cast<float>(std::uint64_t{1} << shift));
    alignas(16) float bytes[Row::kMost];
    for (std::int32_t i = 0; i < row; i += 4) {
      const auto low = reinterpret_cast<Halves>(load<Words>(source.bytes + i) >> shift);
      const auto high = reinterpret_cast<Halves>(load<Words>(source.bytes + i + 2) >> shift);
      const auto units = reinterpret_cast<Integers>(__builtin_shufflevector(low, high, 0, 2, 4, 6));
      const Floats some = __builtin_convertvector(units, Floats) * unit;
      std::memcpy(bytes + i, &some, sizeof(some));
    }
    // Eight at a time, in registers: two sums of each, which do not wait for one another.
    for (std::int32_t n = 0; n < row; n += 8) {
      Floats low[2] = {}, high[2] = {};
      const float* price = machine.price + n;
      for (std::int32_t i = 0; i < row; ++i, price += row) {
        // On a large machine most locations have nothing.
        if (row > 8 && source.bytes[i] == 0) continue;
        low[i % 2] += four(bytes[i]) * load<Floats>(price);
        high[i % 2] += four(bytes[i]) * load<Floats>(price + 4);
      }
      const Floats sums[] = {low[0] + low[1], high[0] + high[1]};
      std::memcpy(at + n, sums, sizeof(sums));
    }
  }

  // To be called when the price of any location was changed.
  void repeat_first(std::int32_t count) {
    for (std::int32_t n = count; n < Row::row(count); ++n) at[n] = at[0];
  }

  float most(std::int32_t count) const {
    return best_of(count, [](Floats a, Floats b) { return a > b ? a : b; })[0];
  }

  // The cheapest of the `staffed` locations, of which there is one. Of equals the creator's own if
  // `here_counts`, else they take turns. Without a branch on what is cheapest: nobody could foretell it.
  Cheapest cheapest(std::int32_t count, Location creator, bool here_counts, std::uint64_t staffed,
                    std::uint32_t turn) const {
    const Floats price = least(count, staffed);
    std::uint64_t equals = 0;
    for (std::int32_t n = 0; n < Row::row(count); n += 8) equals |= same(at + n, price) << n;
    equals &= staffed;
    HEARTH_ASSERT(equals != 0, "none of the locations %#" PRIx64 " of %d has the least price, %g", staffed, count,
                  static_cast<double>(price[0]));
    const bool own = here_counts && (equals >> (creator & 63) & 1) != 0;
    const auto in_turn = static_cast<Location>(placement::remainder(turn, static_cast<std::uint32_t>(count)));
    const Location first = __builtin_expect_with_probability(own, true, 0.5) ? creator : in_turn;
    const std::uint64_t from_first = equals >> first << first;
    return {__builtin_ctzll(from_first != 0 ? from_first : equals), price[0], own};
  }

 private:
  // In all four lanes.
  template <class Better>
  Floats best_of(std::int32_t count, Better better) const {
    auto best = load<Floats>(at);
    for (std::int32_t n = 4; n < Row::row(count); n += 4) best = better(best, load<Floats>(at + n));
    best = better(best, __builtin_shufflevector(best, best, 2, 3, 0, 1));
    return better(best, __builtin_shufflevector(best, best, 1, 0, 3, 2));
  }
  Floats least(std::int32_t count, std::uint64_t staffed) const {
    if (HEARTH_LIKELY(staffed == UINT64_MAX >> (64 - count)))
      return best_of(count, [](Floats a, Floats b) { return a < b ? a : b; });
    float least = at[__builtin_ctzll(staffed)];
    while ((staffed &= staffed - 1) != 0) least = std::min(least, at[__builtin_ctzll(staffed)]);
    return four(least);
  }
  // Bit k: from[k] is that price; of eight.
  static std::uint64_t same(const float* from, Floats price) {
    const auto low = reinterpret_cast<Halves>(load<Floats>(from) == price);
    const auto high = reinterpret_cast<Halves>(load<Floats>(from + 4) == price);
#ifdef __SSE2__
    const auto bits = [](Halves lanes) {
      return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(lanes)));
    };
    return bits(low) | bits(high) << 4;
#else
    const auto bits = reinterpret_cast<Words>((low & Halves{1, 2, 4, 8}) | (high & Halves{16, 32, 64, 128}));
    const std::uint64_t both = bits[0] | bits[1];
    return (both | both >> 32) & 0xff;
#endif
  }
};

}  // namespace hearth::policy
