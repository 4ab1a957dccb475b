// Managed memory, the PageMap and the partition traits on a pretended machine of eight nodes: what is
// computed, what is noted, and that blocks are sound. What the kernel does about it is tests/numa's business.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "memory/allocators.h"
#include "memory/managed.h"
#include "memory/owners.h"
#include "topology/current.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;
using placement::Distribution;
using placement::Kind;
using placement::Shares;

const bool pretending = topology::pretend(HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml");
constexpr std::int32_t kNodes = 8;

void* take(Kind kind, std::size_t size, std::size_t alignment = 1, Location requester = 3) {
  return managed_allocate(
      {.what = {.kind = kind}, .size = size, .alignment = alignment, .requester = requester});
}

Shares shares_of(const void* begin, std::size_t bytes) {
  Shares shares(kNodes);
  where_is(ByteRange::of(begin, bytes), shares);
  return shares;
}

bool is_aligned(const void* p, std::size_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

TEST(Homes, ThePretendedMachinesNodes) {
  ASSERT_TRUE(pretending);
  const MemoryHomes& machine = memory_homes();
  EXPECT_EQ(machine.locations, kNodes);
  EXPECT_EQ(machine.homes.count, kNodes);
  EXPECT_FALSE(machine.kernel_places);
  for (Location i = 0; i < kNodes; ++i) {
    EXPECT_EQ(machine.nearest[i], i);
    EXPECT_EQ(machine.location_of(machine.node[i]), i);
  }
  EXPECT_EQ(machine.location_of(-2), kUnknown);
  EXPECT_EQ(machine.location_of(5000), kUnknown);
}

TEST(Homes, OnlyTheRuntimeKnowsWhereAThreadIsOnAPretendedMachine) {
  EXPECT_EQ(location_here(), kUnknown);
  set_locator([] { return Location{5}; });
  EXPECT_EQ(location_here(), 5);
  void* block = managed_allocate({.what = {.kind = Kind::nearest}, .size = 100});
  EXPECT_EQ(shares_of(block, 100).at[5], 100u);
  managed_release(block);
  set_locator(nullptr);
}

TEST(Managed, CoarseBlocksTakeTurnsWholeAndFineOnesUnitByUnit) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{8} * kPage, std::size_t{3} << 20}) {
    std::vector<void*> blocks;
    std::vector<int> count(kNodes);
    for (int i = 0; i < 2 * kNodes; ++i) {
      blocks.push_back(take(Kind::coarse, size));
      const Shares shares = shares_of(blocks.back(), size);
      for (Location n = 0; n < kNodes; ++n)
        if (shares.at[n] == size) ++count[static_cast<std::size_t>(n)];
    }
    EXPECT_EQ(count, std::vector<int>(kNodes, 2)) << size;
    for (void* block : blocks) managed_release(block);
  }
  for (const std::size_t pages : {8, 64, 1024}) {
    void* block = take(Kind::fine, pages * kPage);
    EXPECT_TRUE(is_aligned(block, kPage));
    const Shares shares = shares_of(block, pages * kPage);
    for (Location n = 0; n < kNodes; ++n) EXPECT_EQ(shares.at[n], pages / kNodes * kPage);
    managed_release(block);
  }
}

TEST(Managed, FourPagesOnEightNodesGoToFour) {
  for (const Kind kind : {Kind::fine, Kind::interleaved, Kind::blocked}) {
    void* block = take(kind, 4 * kPage);
    const Shares shares = shares_of(block, 4 * kPage);
    int used = 0;
    for (Location n = 0; n < kNodes; ++n) {
      EXPECT_LE(shares.at[n], kPage);
      used += shares.at[n] > 0;
    }
    EXPECT_EQ(used, 4) << placement::kind_name(kind);
    managed_release(block);
  }
}

TEST(Managed, BlockedPartsAreEqualAndInOrder) {
  const std::size_t part = 37 * kPage;
  char* block = static_cast<char*>(take(Kind::blocked, kNodes * part));
  for (Location n = 0; n < kNodes; ++n)
    EXPECT_EQ(shares_of(block + static_cast<std::size_t>(n) * part, part).at[n], part);
  managed_release(block);
  // Large parts are whole huge pages.
  const std::size_t large = std::size_t{1} << 30;
  block = static_cast<char*>(take(Kind::blocked, large + 5 * kHugePage));
  const Shares shares = shares_of(block, large + 5 * kHugePage);
  for (Location n = 0; n < kNodes; ++n) EXPECT_EQ(shares.at[n] % kHugePage, 0u);
  managed_release(block);
}

TEST(Managed, WeightedAndHuge) {
  const std::uint32_t weights[kNodes] = {1, 1, 1, 1, 3, 3, 3, 3};
  const std::size_t size = std::size_t{256} << 20;
  void* block = managed_allocate({.what = {.kind = Kind::weighted, .weights = weights}, .size = size});
  const Shares shares = shares_of(block, size);
  for (Location n = 0; n < kNodes; ++n) EXPECT_EQ(shares.at[n], size / 16 * weights[n]);
  managed_release(block);
  char* huge = static_cast<char*>(
      managed_allocate({.what = {.kind = Kind::fine}, .size = 16 * kHugePage, .huge = true}));
  EXPECT_TRUE(is_aligned(huge, kHugePage));
  for (int i = 0; i < 16; ++i) {
    const Shares one = shares_of(huge + static_cast<std::size_t>(i) * kHugePage, kHugePage);
    Location owner = 0;
    while (owner < kNodes && one.at[owner] == 0) ++owner;
    ASSERT_LT(owner, kNodes);
    EXPECT_EQ(one.at[owner], kHugePage);
  }
  managed_release(huge);
}

struct Rows {
  std::size_t in_a_row;
};
int block_cyclic(std::size_t block, std::size_t, int locations, void* data) {
  return static_cast<std::int32_t>(block / static_cast<Rows*>(data)->in_a_row %
                                   static_cast<std::size_t>(locations));
}

TEST(Managed, AUsersDistribution) {
  Rows rows{2};
  const std::size_t block_bytes = 64 * kPage;
  char* block = static_cast<char*>(managed_allocate(
      {.what = {.kind = Kind::custom, .owner = block_cyclic, .data = &rows, .block_bytes = block_bytes},
       .size = 40 * block_bytes}));
  for (std::size_t i = 0; i < 40; ++i)
    EXPECT_EQ(shares_of(block + i * block_bytes, block_bytes).at[i / 2 % kNodes], block_bytes) << i;
  // Growing asks again for the larger block.
  block = static_cast<char*>(managed_resize(block, 80 * block_bytes));
  EXPECT_EQ(shares_of(block + 50 * block_bytes, block_bytes).at[1], block_bytes);
  managed_release(block);
  EXPECT_EQ(managed_allocate({.what = {.kind = Kind::custom}, .size = 100}), nullptr);
}

TEST(Managed, AlignmentSizeZeroAndNonsense) {
  for (const Kind kind : {Kind::coarse, Kind::fine, Kind::blocked})
    for (const std::size_t alignment :
         {std::size_t{1}, std::size_t{64}, kPage, std::size_t{1} << 16, kHugePage, std::size_t{8} << 20})
      for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, std::size_t{3} << 20}) {
        void* block = take(kind, size, alignment);
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(is_aligned(block, alignment)) << alignment;
        std::memset(block, 1, size);
        managed_release(block);
      }
  EXPECT_EQ(take(Kind::fine, 0), nullptr);
  EXPECT_EQ(take(Kind::fine, 100, 3), nullptr);
  EXPECT_EQ(take(Kind::fine, SIZE_MAX), nullptr);
  EXPECT_EQ(take(Kind::blocked, std::size_t{1} << 50), nullptr);
  int local;
  ManagedBlock block;
  EXPECT_FALSE(is_managed(&local));
  EXPECT_FALSE(block_at(&local, block));
}

TEST(Managed, BlockAtKnowsTheBlockAroundAnyAddress) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{50000}, std::size_t{5} << 20}) {
    char* begin = static_cast<char*>(take(Kind::coarse, size));
    set_tag(begin, 42);
    ManagedBlock block;
    ASSERT_TRUE(block_at(begin + size - 1, block));
    EXPECT_EQ(block.begin, begin);
    EXPECT_EQ(block.size, size);
    EXPECT_GE(block.capacity, size);
    EXPECT_EQ(block.tag, 42u);
    EXPECT_EQ(block.capacity, managed_block_bytes({.kind = Kind::coarse}, 1, size));
    managed_release(begin);
    EXPECT_FALSE(block_at(begin, block));
  }
}

TEST(Managed, FreedMemoryIsUsedAgainAndZeroedWhereAsked) {
  for (const std::size_t size :
       {std::size_t{200}, std::size_t{3} * kPage, std::size_t{200} * kPage, std::size_t{4} << 20})
    for (int round = 0; round < 200; ++round) {
      auto* bytes = static_cast<unsigned char*>(
          managed_allocate({.what = {.kind = Kind::fine}, .size = size, .zeroed = true}));
      ASSERT_NE(bytes, nullptr);
      for (std::size_t i = 0; i < size; i += 97) ASSERT_EQ(bytes[i], 0);
      std::memset(bytes, 0xff, size);
      managed_release(bytes);
    }
}

// What a table of owners leaves behind is used again for the list of a new slab's blocks.
TEST(Managed, BlocksThatWereNeverHandedOutAreNoBlocksWhateverTheirListWasBefore) {
  Rows rows{1};
  std::vector<void*> divided;
  for (std::size_t pages = 25; pages <= 3200; pages *= 2)
    for (int i = 0; i < 3; ++i)
      divided.push_back(managed_allocate(
          {.what = {.kind = Kind::custom, .owner = block_cyclic, .data = &rows, .block_bytes = kPage},
           .size = pages * kPage}));
  for (void* block : divided) managed_release(block);
  for (const std::size_t size : {kPage, 2 * kPage, 4 * kPage, 8 * kPage, 16 * kPage, 32 * kPage}) {
    char* begin = static_cast<char*>(take(Kind::nearest, size, 1, 6));
    ManagedBlock block;
    for (std::size_t i = 1; i < 8; ++i) EXPECT_FALSE(block_at(begin + i * size, block)) << size << ", " << i;
    managed_release(begin);
  }
}

TEST(ManagedDeathTest, ASecondFreeIsFatal) {
  void* small = take(Kind::coarse, 100);
  void* large = take(Kind::coarse, 4 << 20);
  managed_release(small);
  managed_release(large);
  EXPECT_DEATH(managed_release(small), "not a block that Hearth has allocated");
  EXPECT_DEATH(managed_release(large), "not a block that Hearth has allocated");
  char* block = static_cast<char*>(take(Kind::coarse, 10000));
  EXPECT_DEATH(managed_release(block + 64), "not a block that Hearth has allocated");
  managed_release(block);
}

TEST(Managed, ResizingKeepsContentAndHome) {
  std::mt19937_64 random(7);
  for (const Kind kind : {Kind::coarse, Kind::fine, Kind::blocked, Kind::nearest}) {
    std::size_t size = 300;
    auto* block = static_cast<unsigned char*>(take(kind, size));
    std::memset(block, 7, size);
    const Shares first = shares_of(block, size);
    for (int round = 0; round < 60; ++round) {
      const std::size_t other = 1 + random() % (std::size_t{3} << (random() % 21));
      auto* moved = static_cast<unsigned char*>(managed_resize(block, other));
      ASSERT_NE(moved, nullptr);
      const std::size_t kept = other < size ? other : size;
      for (std::size_t i = 0; i < kept; i += 1 + kept / 50) ASSERT_EQ(moved[i], 7);
      std::memset(moved, 7, other);
      block = moved;
      size = other;
      const Shares now = shares_of(block, size);
      EXPECT_EQ(now.unknown, 0u);
      if (kind == Kind::coarse || kind == Kind::nearest) {
        for (Location n = 0; n < kNodes; ++n) EXPECT_EQ(now.at[n] > 0, first.at[n] > 0);
      }
    }
    managed_release(block);
  }
}

TEST(Managed, ThreadsAllocateAndFreeEachOthersBlocks) {
  constexpr int kThreads = 4, kRounds = 3000, kSlots = 64;
  std::atomic<char*> slots[kSlots] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&slots, t] {
      std::mt19937_64 random(static_cast<std::uint64_t>(t));
      for (int i = 0; i < kRounds; ++i) {
        const std::size_t size = 1 + random() % (std::size_t{1} << (random() % 22));
        const Kind kind = static_cast<Kind>(1 + random() % 2);
        char* mine = static_cast<char*>(take(kind, size));
        ASSERT_NE(mine, nullptr);
        mine[0] = mine[size - 1] = static_cast<char>(size);
        ManagedBlock block;
        ASSERT_TRUE(block_at(mine, block));
        ASSERT_EQ(block.size, size);
        if (char* other = slots[random() % kSlots].exchange(mine, std::memory_order_acq_rel)) {
          ASSERT_TRUE(block_at(other, block));
          ASSERT_EQ(other[0], static_cast<char>(block.size));
          ASSERT_EQ(other[block.size - 1], static_cast<char>(block.size));
          managed_release(other);
        }
      }
    });
  for (auto& thread : threads) thread.join();
  for (auto& slot : slots)
    if (char* left = slot.load(std::memory_order_relaxed)) managed_release(left);
}

TEST(Managed, AForkedChildCanAllocate) {
  std::atomic<bool> stop{false};
  std::thread busy([&stop] {
    while (!stop.load(std::memory_order_relaxed)) managed_release(take(Kind::coarse, 300));
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a lock that the other thread held would never come free
      void* block = take(Kind::fine, 10 * kPage);
      managed_release(block);
      _exit(block != nullptr ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop.store(true, std::memory_order_relaxed);
  busy.join();
}

// ---- partition traits

constexpr std::int32_t key(TraitKey k) { return static_cast<std::int32_t>(k); }

TEST(Partition, EachTraitPutsBytesWhereItSays) {
  const struct {
    std::uintptr_t trait;
    int homes;  // how many locations hold the block
  } cases[] = {{trait::kNearest, 1}, {trait::kBlocked, kNodes}, {trait::kInterleaved, kNodes}};
  set_locator([] { return Location{6}; });
  for (const auto& one : cases) {
    const Trait traits[] = {{key(TraitKey::partition), one.trait}, {key(TraitKey::alignment), 8192}};
    const AllocatorHandle allocator = make_allocator(0, 2, traits);
    auto* block = static_cast<char*>(allocate_zeroed(allocator, 1, 64, kPage));
    EXPECT_TRUE(is_managed(block));
    EXPECT_TRUE(is_aligned(block, 8192));
    const Shares shares = shares_of(block, 64 * kPage);
    for (Location n = 0; n < kNodes; ++n)
      EXPECT_EQ(shares.at[n], one.homes == 1 ? (n == 6 ? 64 * kPage : 0) : 64 * kPage / kNodes);
    block[5] = 9;
    block = static_cast<char*>(reallocate(block, 100 * kPage, kNullAllocator));
    EXPECT_TRUE(is_managed(block));
    EXPECT_EQ(block[5], 9);
    block = static_cast<char*>(reallocate(block, 10, kDefaultMemAlloc));
    EXPECT_FALSE(is_managed(block));
    EXPECT_EQ(block[5], 9);
    release(block);
    destroy_allocator(allocator);
  }
  set_locator(nullptr);
}

TEST(Partition, PoolsStayExact) {
  const Trait traits[] = {{key(TraitKey::partition), trait::kInterleaved},
                          {key(TraitKey::pool_size), 10 * kPage},
                          {key(TraitKey::fallback), trait::kNullFb}};
  const AllocatorHandle allocator = make_allocator(0, 3, traits);
  void* first = allocate(allocator, 1, 6 * kPage);
  EXPECT_EQ(pool_used(allocator), 6 * kPage);
  EXPECT_EQ(allocate(allocator, 1, 4 * kPage + 1), nullptr);
  void* second = allocate(allocator, 1, 3 * kPage + 1);
  EXPECT_EQ(pool_used(allocator), 10 * kPage);
  release(first);
  EXPECT_EQ(pool_used(allocator), 4 * kPage);
  second = reallocate(second, 8 * kPage, kNullAllocator);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(pool_used(allocator), 8 * kPage);
  release(second);
  EXPECT_EQ(pool_used(allocator), 0u);
  destroy_allocator(allocator);
}

// ---- PageMap

ByteRange pages(std::uint64_t first, std::uint64_t count) {
  return {(first + (std::uint64_t{1} << 34)) * kPage, (first + count + (std::uint64_t{1} << 34)) * kPage};
}

TEST(PageMapTest, WhatIsAssumedIsFoundAndWhatIsForgottenIsNot) {
  Shares shares(kNodes);
  EXPECT_EQ(page_map.add_shares(pages(0, 4), shares).missing, 4 * kPage);
  EXPECT_EQ(shares.unknown, 4 * kPage);
  page_map.assume(pages(0, 2), 3);
  page_map.assume(pages(2, 2), 6);
  shares.clear(kNodes);
  ByteRange part = pages(0, 4);
  part.begin += 100;
  part.end -= 200;
  EXPECT_EQ(page_map.add_shares(part, shares).missing, 0u);
  EXPECT_EQ(shares.at[3], 2 * kPage - 100);
  EXPECT_EQ(shares.at[6], 2 * kPage - 200);
  page_map.forget(pages(1, 2));
  shares.clear(kNodes);
  EXPECT_EQ(page_map.add_shares(pages(0, 4), shares).missing, 2 * kPage);
  EXPECT_EQ(shares.at[3], kPage);
  page_map.assume(pages(0, 4), kUnknown);
  shares.clear(kNodes);
  EXPECT_EQ(page_map.add_shares(pages(0, 4), shares).untouched, 4 * kPage);
  EXPECT_EQ(shares.unknown, 4 * kPage);
  page_map.forget(pages(0, 4));
}

TEST(PageMapTest, LargeRangesAreSampledButTheirBytesAddUp) {
  const std::uint64_t count = 100000;
  for (std::uint64_t at = 0; at < count; at += 1000)
    page_map.assume(pages(at, 1000), static_cast<Location>(at / 12500));
  Shares shares(kNodes);
  ByteRange range = pages(0, count);
  range.begin += 1;
  EXPECT_EQ(page_map.add_shares(range, shares).missing, 0u);
  EXPECT_EQ(shares.known(), range.bytes());
  for (Location n = 0; n < kNodes; ++n)
    EXPECT_NEAR(static_cast<double>(shares.at[n]), 12500.0 * kPage, 6250.0 * kPage);
  // Samples of a page-wise interleaved range must not all meet the same node.
  for (std::uint64_t at = 0; at < 4096; ++at)
    page_map.assume(pages(at, 1), static_cast<Location>(at % kNodes));
  shares.clear(kNodes);
  page_map.add_shares(pages(0, 4096), shares);
  int met = 0;
  for (Location n = 0; n < kNodes; ++n) met += shares.at[n] > 0;
  EXPECT_GE(met, kNodes - 1);
  page_map.forget(pages(0, count));
}

TEST(PageMapTest, AHugeRangeIsAssumedWhereItIsLookedAt) {
  const ByteRange range = pages(1 << 20, 1 << 19);
  page_map.assume(range, 2);
  Shares shares(kNodes);
  EXPECT_EQ(page_map.add_shares(range, shares).missing, 0u);
  EXPECT_EQ(shares.at[2], range.bytes());
  page_map.forget(range);
  shares.clear(kNodes);
  EXPECT_EQ(page_map.add_shares(range, shares).missing, range.bytes());
}

TEST(PageMapTest, EntriesGrowOldButAreStillAnswers) {
  page_map.tick(0);
  page_map.assume(pages(0, 8), 1);
  Shares shares(kNodes);
  EXPECT_EQ(page_map.add_shares(pages(0, 8), shares).old, 0u);
  page_map.tick((tuning::kPageMapOldTicks + 1) * tuning::kPageMapTickNs);
  shares.clear(kNodes);
  EXPECT_EQ(page_map.add_shares(pages(0, 8), shares).old, 8 * kPage);
  EXPECT_EQ(shares.at[1], 8 * kPage);
  page_map.forget(pages(0, 8));
}

TEST(PageMapTest, EmptyAndInvertedRanges) {
  Shares shares(kNodes);
  EXPECT_EQ(page_map.add_shares({100, 100}, shares).missing, 0u);
  EXPECT_EQ(page_map.add_shares({200, 100}, shares).missing, 0u);
  page_map.assume({200, 100}, 1);
  page_map.forget({200, 100});
  EXPECT_EQ(shares.unknown, 0u);
  EXPECT_EQ(ByteRange::of(reinterpret_cast<void*>(UINTPTR_MAX - 10), 100).bytes(), 10u);
}

}  // namespace
}  // namespace hearth::memory
