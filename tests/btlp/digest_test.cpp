// The number that stands for an instruction and what it depends on: others must not have it, or one gets the other's value.
#include "btlp/analysis/digest.h"

#include <cstdint>
#include <unordered_set>

#include <gtest/gtest.h>

namespace hearth::btlp {
namespace {

constexpr std::uint64_t kHeap = 0x55d0c0ffe000U;

TEST(Digest, NeighboursWithNeighbouringInputsDiffer) {
  std::unordered_set<std::uint64_t> seen;
  std::size_t count = 0;
  for (std::uint64_t address = kHeap; address < kHeap + 64 * 64; address += 64)
    for (std::uint64_t stamp = 1; stamp <= 4096; ++stamp, ++count) {
      Digest digest;
      digest.add(address);
      digest.add(stamp);
      seen.insert(digest.value());
    }
  EXPECT_EQ(seen.size(), count);
}

TEST(Digest, CountersThatRiseTogetherDiffer) {
  std::unordered_set<std::uint64_t> seen;
  std::size_t count = 0;
  for (std::uint64_t version = 0; version < 512; ++version)
    for (std::uint64_t stamp = 0; stamp < 512; ++stamp, ++count) {
      Digest digest;
      digest.add(version);
      digest.add(stamp);
      seen.insert(digest.value());
    }
  EXPECT_EQ(seen.size(), count);
}

TEST(Digest, OrderCounts) {
  Digest one, two;
  for (const std::uint64_t number : {1U, 2U}) one.add(number);
  for (const std::uint64_t number : {2U, 1U}) two.add(number);
  EXPECT_NE(one.value(), two.value());
}

}  // namespace
}  // namespace hearth::btlp
