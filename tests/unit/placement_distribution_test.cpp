// Distributions and the owner table: every computed answer is held against one that looks at each unit.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "placement/distribution.h"
#include "placement/owner_table.h"

namespace hearth::placement {
namespace {

constexpr std::uint64_t kPage = 4096;

Homes homes_of(std::vector<Location> at) {
  Homes homes;
  for (const Location where : at) homes.at[homes.count++] = where;
  return homes;
}

std::vector<Location> owners(const Layout& layout, const Allocation& allocation) {
  std::vector<Location> result;
  for (std::uint64_t offset = 0; offset < allocation.bytes; offset += allocation.unit)
    result.push_back(layout.owner(allocation.begin + offset));
  return result;
}

Layout plain(Kind kind, const Allocation& allocation, const Homes& homes, const Shape& shape) {
  return lay_out({.kind = kind}, allocation, homes, &shape, nullptr, {});
}

// The shares of a range by asking for each byte's owner, run by run.
Shares counted(const Layout& layout, std::uint64_t begin, std::uint64_t end, std::int32_t locations) {
  Shares shares(locations);
  while (begin < end) {
    const std::uint64_t next = std::min(end, begin / 64 * 64 + 64);
    shares.add(layout.owner(begin), next - begin);
    begin = next;
  }
  return shares;
}

void expect_equal(const Shares& a, const Shares& b) {
  ASSERT_EQ(a.locations, b.locations);
  EXPECT_EQ(a.unknown, b.unknown);
  for (std::int32_t i = 0; i < a.locations; ++i) EXPECT_EQ(a.at[i], b.at[i]) << "location " << i;
}

// Muddukrishna et al. 2015, listing 2 and figure 6: requests A to E of eight units on four nodes, A and B by
// the global policy, C and D coarse, E fine.
TEST(Figure6, RequestsAToEOnFourNodes) {
  const Homes homes = homes_of({0, 1, 2, 3});
  const Shape shape = make_shape(homes, nullptr);
  const std::vector<Location> in_turn{0, 1, 2, 3, 0, 1, 2, 3};
  const auto whole = [](Location where) { return std::vector<Location>(8, where); };
  for (const Kind global : {Kind::standard, Kind::fine, Kind::coarse}) {
    SCOPED_TRACE(kind_name(global));
    std::uint64_t coarse_ones = 0;
    std::uint64_t next = 0x10000000;
    const auto request = [&](Kind kind) {
      const Allocation allocation{next, 8 * kPage, kPage, kUnknown, coarse_ones};
      if (kind == Kind::coarse) ++coarse_ones;
      next += allocation.bytes;
      return owners(plain(kind, allocation, homes, shape), allocation);
    };
    const auto a = request(global), b = request(global);
    const auto c = request(Kind::coarse), d = request(Kind::coarse), e = request(Kind::fine);
    EXPECT_EQ(a, global == Kind::fine ? in_turn : whole(global == Kind::coarse ? 0 : kUnknown));
    EXPECT_EQ(b, global == Kind::coarse ? whole(1) : a);
    EXPECT_EQ(c, whole(global == Kind::coarse ? 2 : 0));
    EXPECT_EQ(d, whole(global == Kind::coarse ? 3 : 1));
    EXPECT_EQ(e, in_turn);
  }
}

TEST(Distribution, FineHandsOutCacheLinesWhereHomeCachesAreTheLocations) {
  const Homes homes = homes_of({0, 1, 2, 3});
  const Shape shape = make_shape(homes, nullptr);
  const Allocation allocation{1 << 20, 8 * 64, 64, kUnknown, 0};
  EXPECT_EQ(owners(plain(Kind::fine, allocation, homes, shape), allocation),
            (std::vector<Location>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(Distribution, LocationsWithoutMemoryGetNothing) {
  const Homes homes = homes_of({1, 4, 6});
  const Shape shape = make_shape(homes, nullptr);
  const Allocation allocation{0, 6 * kPage, kPage, kUnknown, 4};
  EXPECT_EQ(owners(plain(Kind::interleaved, allocation, homes, shape), allocation),
            (std::vector<Location>{1, 4, 6, 1, 4, 6}));
  EXPECT_EQ(owners(plain(Kind::coarse, allocation, homes, shape), allocation), std::vector<Location>(6, 4));
}

TEST(Distribution, BlockedPartsDifferByOneUnitAtMost) {
  const Homes homes = homes_of({0, 1, 2, 3, 4, 5, 6, 7});
  const Shape shape = make_shape(homes, nullptr);
  for (std::uint64_t units = 1; units < 40; ++units) {
    const Allocation allocation{units << 21, units * kPage, kPage, kUnknown, 0};
    const Layout layout = plain(Kind::blocked, allocation, homes, shape);
    const std::vector<Location> owner = owners(layout, allocation);
    std::uint64_t parts[8] = {};
    for (std::size_t i = 0; i < owner.size(); ++i) {
      ASSERT_GE(owner[i], i > 0 ? owner[i - 1] : 0) << "at most one part per location, in order";
      ++parts[owner[i]];
    }
    for (const std::uint64_t part : parts) {
      EXPECT_GE(part, units / 8);
      EXPECT_LE(part, (units + 7) / 8);
    }
  }
}

TEST(Distribution, NearestIsWhereTheAskingThreadIs) {
  const Homes homes = homes_of({0, 1, 2});
  const Shape shape = make_shape(homes, nullptr);
  const Allocation allocation{0, 4 * kPage, kPage, 2, 7};
  EXPECT_EQ(owners(plain(Kind::nearest, allocation, homes, shape), allocation), std::vector<Location>(4, 2));
}

TEST(Distribution, WeightsDecideHowMuchEachLocationGets) {
  const Homes homes = homes_of({0, 1, 2});
  const std::uint32_t weights[] = {3, 0, 1};
  const Shape shape = make_shape(homes, weights);
  const Allocation allocation{1 << 24, 8 * kPage, kPage, kUnknown, 0};
  const Layout layout =
      lay_out({.kind = Kind::weighted, .weights = weights}, allocation, homes, nullptr, &shape, {});
  EXPECT_EQ(owners(layout, allocation), (std::vector<Location>{0, 0, 0, 2, 0, 0, 0, 2}));
  // Grains grow so that the kernel is not asked for more pieces than it can keep.
  const std::uint64_t large = std::uint64_t{1} << 30;
  const std::uint64_t grain = weighted_grain(shape, large, kPage, 512);
  EXPECT_EQ(grain & (grain - 1), 0u);
  EXPECT_LE(large / (grain * 4) * 2, 512u);
  EXPECT_EQ(weighted_grain(shape, 8 * kPage, kPage, 512), kPage);
}

// The paper asks that users can add distributions; its example is block-cyclic.
struct BlockCyclic {
  std::size_t blocks_in_a_row;
};
int block_cyclic(std::size_t block, std::size_t, int locations, void* data) {
  const auto* what = static_cast<const BlockCyclic*>(data);
  return static_cast<std::int32_t>(block / what->blocks_in_a_row % static_cast<std::size_t>(locations));
}
int nobody_or_last(std::size_t block, std::size_t, int locations, void*) {
  return block % 3 == 0 ? -1 : block % 3 == 1 ? locations : locations - 1;
}

struct Custom {
  std::vector<std::uint64_t> memory;
  Layout layout;
  Custom(const Distribution& what, const Allocation& allocation, const Homes& homes) {
    const std::size_t blocks = (allocation.bytes + what.block_bytes - 1) / what.block_bytes;
    memory.resize(BlockTable::bytes_needed(blocks, homes) / 8 + 1);
    const BlockTable table(memory.data(), what, homes, blocks, what.block_bytes);
    layout = lay_out(what, allocation, homes, nullptr, nullptr, table);
  }
};

TEST(Distribution, AUsersBlockCyclicOne) {
  const Homes homes = homes_of({0, 2, 3});
  BlockCyclic two{2};
  const Distribution what{
      .kind = Kind::custom, .owner = block_cyclic, .data = &two, .block_bytes = 2 * kPage};
  const Allocation allocation{1 << 22, 16 * kPage, kPage, kUnknown, 0};
  const Custom custom(what, allocation, homes);
  EXPECT_EQ(owners(custom.layout, allocation),
            (std::vector<Location>{0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 3, 3, 0, 0, 0, 0}));
  EXPECT_EQ(custom.layout.run_end(allocation.begin + 5 * kPage), allocation.begin + 8 * kPage);
}

TEST(Distribution, BlocksThatAUserGivesToNobodyAreUnknown) {
  const Homes homes = homes_of({0, 1});
  const Distribution what{.kind = Kind::custom, .owner = nobody_or_last, .block_bytes = kPage};
  const Allocation allocation{1 << 22, 300 * kPage, kPage, kUnknown, 0};
  const Custom custom(what, allocation, homes);
  Shares shares(2);
  custom.layout.add_shares(allocation.begin, allocation.begin + allocation.bytes, shares);
  EXPECT_EQ(shares.at[0], 0u);
  EXPECT_EQ(shares.at[1], 100 * kPage);
  EXPECT_EQ(shares.unknown, 200 * kPage);
}

TEST(Distribution, SharesOfAnyRangeAreWhatItsBytesAddUpTo) {
  std::mt19937_64 random(1);
  BlockCyclic three{3};
  const std::uint32_t weights[kMaxLocations] = {5, 1, 2, 0, 7, 3, 1, 1};
  for (const std::int32_t count : {1, 3, 4, 6, 8}) {
    Homes homes;
    for (std::int32_t i = 0; i < count; ++i) homes.at[homes.count++] = i;
    const Shape equal = make_shape(homes, nullptr), weighted = make_shape(homes, weights);
    for (int round = 0; round < 60; ++round) {
      const Allocation allocation{(1 + random() % 1000) << 21, (1 + random() % 700) * kPage, kPage,
                                  static_cast<Location>(random() % static_cast<unsigned>(count)),
                                  random() % 100};
      std::vector<Layout> layouts;
      for (const Kind kind : {Kind::standard, Kind::fine, Kind::coarse, Kind::nearest, Kind::blocked})
        layouts.push_back(plain(kind, allocation, homes, equal));
      layouts.push_back(lay_out({.kind = Kind::weighted}, allocation, homes, &equal, &weighted, {}));
      // Blocks of a power of two and others; mostly more of them than lie between two checkpoints.
      const std::size_t block_bytes = (1 + 2 * (random() % 2)) * kPage;
      const Custom custom(
          {.kind = Kind::custom, .owner = block_cyclic, .data = &three, .block_bytes = block_bytes},
          allocation, homes);
      layouts.push_back(custom.layout);
      for (const Layout& layout : layouts) {
        const std::uint64_t a = random() % (allocation.bytes + 1), b = random() % (allocation.bytes + 1);
        const std::uint64_t begin = allocation.begin + std::min(a, b),
                            end = allocation.begin + std::max(a, b);
        Shares shares(count);
        layout.add_shares(begin, end, shares);
        expect_equal(shares, counted(layout, begin, end, count));
        EXPECT_EQ(shares.known() + shares.unknown, end - begin);
        if (begin < end) {
          const std::uint64_t run = std::min(end, layout.run_end(begin));
          ASSERT_GT(run, begin);
          EXPECT_EQ(layout.owner(run - 1), layout.owner(begin));
          EXPECT_TRUE(run == end || layout.owner(run) != layout.owner(begin));
        }
      }
    }
  }
}

TEST(Need, ReadAndWrittenBytesAreKeptApart) {
  Shares range(2);
  range.add(0, 100);
  range.add(1, 50);
  range.add(kUnknown, 7);
  Need need(2);
  need.add(range, Access::read);
  need.add(range, Access::read_write);
  EXPECT_EQ(need.read.at[0], 200u);
  EXPECT_EQ(need.written.at[0], 100u);
  EXPECT_EQ(need.read.unknown, 14u);
  EXPECT_EQ(need.written.known(), 150u);
}

// ---- OwnerTable

class OwnerTableTest : public testing::Test {
 protected:
  static constexpr std::size_t kManaged = 64 * OwnerTable::kGranule;
  static constexpr std::uint64_t kBase = std::uint64_t{1} << 40;

  OwnerTableTest() : homes_(homes_of({0, 1, 2, 3})), shape_(make_shape(homes_, nullptr)) {
    memory_ = std::calloc(1, OwnerTable::bytes_needed(kManaged) + 64);
    const auto aligned = (reinterpret_cast<std::uintptr_t>(memory_) + 63) & ~std::uintptr_t{63};
    table_.attach(reinterpret_cast<void*>(aligned), kBase, kManaged);
  }
  ~OwnerTableTest() override { std::free(memory_); }

  OwnerTable::RegionId enter(Kind kind, std::uint64_t bytes, std::uint64_t ordinal = 0) {
    const std::uint64_t begin = table_.find_free((bytes + OwnerTable::kGranule - 1) / OwnerTable::kGranule);
    if (begin == 0) return 0;
    const Allocation allocation{begin, bytes, kPage, kUnknown, ordinal};
    return table_.enter({begin, begin + bytes, plain(kind, allocation, homes_, shape_)});
  }
  std::uint64_t begin_of(OwnerTable::RegionId id) const {
    for (std::uint64_t at = kBase; at < kBase + kManaged; at += OwnerTable::kGranule)
      if (table_.id_at(at) == id) return at;
    return 0;
  }
  Shares shares_of(std::uint64_t begin, std::uint64_t end) const {
    Shares shares(4);
    table_.add_shares({begin, end}, shares);
    return shares;
  }

  Homes homes_;
  Shape shape_;
  void* memory_;
  OwnerTable table_;
};

TEST_F(OwnerTableTest, AnEmptyTableManagesNothing) {
  const OwnerTable none;
  EXPECT_FALSE(none.manages(0));
  EXPECT_FALSE(none.manages(kBase));
  Shares shares(4);
  none.add_shares({kBase, kBase + 100}, shares);
  EXPECT_EQ(shares.unknown, 100u);
}

TEST_F(OwnerTableTest, RangesOverSeveralRegionsGapsAndTheOutside) {
  const auto a = enter(Kind::coarse, 3 * kPage, 1), b = enter(Kind::fine, OwnerTable::kGranule + 4 * kPage);
  ASSERT_NE(a, 0u);
  ASSERT_NE(b, 0u);
  const std::uint64_t begin = begin_of(a);
  EXPECT_EQ(begin_of(b), begin + OwnerTable::kGranule);
  const Shares all = shares_of(begin - 100, begin + 3 * OwnerTable::kGranule);
  EXPECT_EQ(all.unknown, 100 + 3 * OwnerTable::kGranule - 7 * kPage - OwnerTable::kGranule);
  EXPECT_EQ(all.at[1], 3 * kPage + OwnerTable::kGranule / 4 + kPage);
  EXPECT_EQ(all.at[2], OwnerTable::kGranule / 4 + kPage);
  EXPECT_EQ(table_.owner(begin + 3 * kPage - 1), 1);
  EXPECT_EQ(table_.owner(begin + 3 * kPage), kUnknown);
  // An empty, an inverted, and a part of a page.
  EXPECT_EQ(shares_of(begin, begin).unknown, 0u);
  EXPECT_EQ(shares_of(begin + 5, begin).unknown, 0u);
  EXPECT_EQ(shares_of(begin + 5, begin + 8).at[1], 3u);
}

TEST_F(OwnerTableTest, RemovedAndDistrustedRegionsAreUnknown) {
  const auto a = enter(Kind::coarse, kPage, 2), b = enter(Kind::coarse, kPage, 3);
  const std::uint64_t at_a = begin_of(a), at_b = begin_of(b);
  table_.remove(a);
  table_.change(b, {});
  EXPECT_EQ(table_.owner(at_a), kUnknown);
  EXPECT_EQ(table_.owner(at_b), kUnknown);
  EXPECT_EQ(table_.id_at(at_b), b) << "it is still there, only nobody believes it";
  EXPECT_EQ(begin_of(enter(Kind::fine, kPage)), at_a) << "free granules are used again";
}

TEST_F(OwnerTableTest, AFullTableSaysSo) {
  std::vector<OwnerTable::RegionId> all;
  while (const auto id = enter(Kind::coarse, 1)) all.push_back(id);
  EXPECT_EQ(all.size(), kManaged / OwnerTable::kGranule);
  table_.remove(all[10]);
  table_.remove(all[12]);
  EXPECT_EQ(table_.find_free(2), 0u);
  EXPECT_NE(table_.find_free(1), 0u);
}

// Whoever asks while memory comes and goes gets a right answer for it or none.
TEST_F(OwnerTableTest, ReadersNeverSeeHalfARegion) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> known{0};
  std::thread reader([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const Shares shares = shares_of(kBase, kBase + 64 * kPage);
      // Either the coarse region of 64 pages at 3, or the fine one of 32, or nothing.
      if (shares.known() == 0) continue;
      known.fetch_add(1, std::memory_order_relaxed);
      const bool coarse = shares.at[3] == 64 * kPage && shares.unknown == 0;
      const bool fine =
          shares.at[0] == 8 * kPage && shares.at[3] == 8 * kPage && shares.unknown == 32 * kPage;
      // The fine one, and where that ended already the coarse one: each part was true when it was read.
      const bool one_then_the_other =
          shares.at[0] == 8 * kPage && shares.at[3] == 40 * kPage && shares.unknown == 0;
      if (!coarse && !fine && !one_then_the_other)
        ADD_FAILURE() << shares.at[0] << ' ' << shares.at[3] << ' ' << shares.unknown;
    }
  });
  for (int round = 0; round < 20000 || known.load(std::memory_order_relaxed) < 100; ++round)
    table_.remove(round % 2 == 0 ? enter(Kind::coarse, 64 * kPage, 3) : enter(Kind::fine, 32 * kPage));
  stop.store(true, std::memory_order_relaxed);
  reader.join();
}

}  // namespace
}  // namespace hearth::placement
