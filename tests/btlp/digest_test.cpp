// The number that stands for an instruction and what it depends on: others must not have it, or one gets the other's value.
#include "btlp/analysis/digest.h"

#include <cstdint>
#include <unordered_set>

#include <gtest/gtest.h>

namespace hearth::btlp {
namespace {

constexpr std::uint64_t kHeap = 0x55d0c0ffe000U;

// How many of a grid of pairs have a number of their own.
struct Grid {
  std::uint64_t begin, end, step, stamps;
  std::size_t pairs() const { return (end - begin) / step * stamps; }
  std::size_t distinct() const {
    std::unordered_set<std::uint64_t> seen;
    for (std::uint64_t first = begin; first < end; first += step)
      for (std::uint64_t stamp = 0; stamp < stamps; ++stamp) {
        Digest digest;
        digest.add(first);
        digest.add(stamp);
        seen.insert(digest.value());
      }
    return seen.size();
  }
};

TEST(Digest, NeighboursWithNeighbouringInputsDiffer) {
  const Grid addresses{kHeap, kHeap + 64 * 64, 64, 4096};
  EXPECT_EQ(addresses.distinct(), addresses.pairs());
}

TEST(Digest, CountersThatRiseTogetherDiffer) {
  const Grid counters{0, 512, 1, 512};
  EXPECT_EQ(counters.distinct(), counters.pairs());
}

TEST(Digest, OrderCounts) {
  Digest one, two;
  for (const std::uint64_t number : {1U, 2U}) one.add(number);
  for (const std::uint64_t number : {2U, 1U}) two.add(number);
  EXPECT_NE(one.value(), two.value());
}

}  // namespace
}  // namespace hearth::btlp
