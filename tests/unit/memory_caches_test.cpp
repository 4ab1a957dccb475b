// Homes, distributions and the PageMap where the locations are last-level caches, on a pretended machine of
// eight nodes with two each.
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "memory/managed.h"
#include "memory/owners.h"
#include "topology/current.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;
using placement::Kind;
using placement::Shares;

const bool pretending = [] {
  topology::choose_locations(topology::LocationKind::llc, placement::kMaxLocations);
  return topology::pretend(HEARTH_SOURCE_DIR "/models/epyc-nps4x2.toml");
}();
constexpr std::int32_t kNodes = 8, kCaches = 16;

TEST(CachesAsHomes, AreTwoOfEachNode) {
  ASSERT_TRUE(pretending);
  const MemoryHomes& machine = memory_homes();
  ASSERT_EQ(machine.locations, kCaches);
  EXPECT_EQ(machine.homes.count, kCaches);
  EXPECT_TRUE(machine.divided);
  for (Location i = 0; i < kCaches; ++i) {
    EXPECT_EQ(machine.node[i], i / 2);
    EXPECT_EQ(machine.nearest[i], i);
  }
}

TEST(CachesAsHomes, TakeTurnsForANodesPagesWhichStayWhereTheyWere) {
  const MemoryHomes& machine = memory_homes();
  for (int node = 0; node < kNodes; ++node) {
    for (std::uint32_t turn = 0; turn < 6; ++turn)
      EXPECT_EQ(machine.location_of(node, kUnknown, turn), 2 * node + static_cast<Location>(turn % 2));
    for (Location before = 0; before < kCaches; ++before)
      EXPECT_EQ(machine.location_of(node, before, 1), before / 2 == node ? before : 2 * node + 1)
          << "a page that has moved comes to another node's";
    EXPECT_EQ(machine.location_of(node, kCaches + node, 1), 2 * node + 1) << "there is no such location";
  }
  EXPECT_EQ(machine.location_of(kNodes, 3, 1), kUnknown);
  EXPECT_EQ(machine.location_of(-2, 3, 1), kUnknown);
}

TEST(CachesAsHomes, FineGoesRoundTheNodesAsTheKernelDoes) {
  constexpr std::size_t kPages = 1000;
  auto* block = static_cast<char*>(managed_allocate({.what = {.kind = Kind::fine}, .size = kPages * kPage}));
  ASSERT_NE(block, nullptr);
  std::vector<int> pages(kCaches, 0);
  for (std::size_t i = 0; i < kPages; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(block) + i * kPage;
    const Location owner = owner_table.owner(address);
    ASSERT_GE(owner, 0);
    EXPECT_EQ(memory_homes().node[owner], address / kPage % kNodes);
    ++pages[static_cast<std::size_t>(owner)];
  }
  for (const int count : pages) EXPECT_NEAR(count, static_cast<int>(kPages) / kCaches, 1);
  Shares shares(kCaches);
  where_is(ByteRange::of(block, kPages * kPage), shares);
  for (Location i = 0; i < kCaches; ++i)
    EXPECT_EQ(shares.at[i], static_cast<std::uint64_t>(pages[static_cast<std::size_t>(i)]) * kPage);
  managed_release(block);
}

TEST(CachesAsHomes, CoarseAndBlockedUseThemAll) {
  std::set<Location> owners;
  for (int i = 0; i < kCaches; ++i)
    owners.insert(owner_table.owner(reinterpret_cast<std::uintptr_t>(
        managed_allocate({.what = {.kind = Kind::coarse}, .size = 1 << 20}))));
  EXPECT_EQ(owners.size(), static_cast<std::size_t>(kCaches));
  auto* block = static_cast<char*>(managed_allocate({.what = {.kind = Kind::blocked}, .size = 16 << 20}));
  for (Location i = 0; i < kCaches; ++i)
    EXPECT_EQ(
        owner_table.owner(reinterpret_cast<std::uintptr_t>(block) + (static_cast<std::uint64_t>(i) << 20)),
        i);
}

TEST(PagesOfCaches, WhatIsSupposedIsUsedAndAskedAbout) {
  const ByteRange range{std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 8 * kPage};
  page_map.tick(5'000'000'000);
  page_map.suppose(range, 11);
  Shares shares(kCaches);
  const PageMap::Knowledge knowledge = page_map.add_shares(range, shares);
  EXPECT_EQ(shares.at[11], range.bytes());
  EXPECT_EQ(knowledge.old, range.bytes());
  EXPECT_EQ(knowledge.missing, 0u);
  page_map.assume(range, 11);
  EXPECT_EQ(page_map.add_shares(range, shares).old, 0u);
}

}  // namespace
}  // namespace hearth::memory
