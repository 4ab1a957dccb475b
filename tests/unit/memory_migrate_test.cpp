// Migrations on a pretended machine of eight nodes: what is noted, counted and told to the tables, by one thread and by
// several. What the kernel does is tests/numa's business.
#include "memory/migrate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "memory/areas.h"
#include "memory/costs.h"
#include "memory/managed.h"
#include "memory/next_touch.h"
#include "memory/node_stats.h"
#include "memory/owners.h"
#include "topology/current.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;
using placement::Kind;
using placement::Shares;

const bool pretending = topology::pretend(HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml");
constexpr std::int32_t kNodes = 8;
constexpr std::uint64_t kBase = std::uint64_t{0x2345} << 32;

Shares shares_of(ByteRange range) {
  Shares shares(kNodes);
  where_is(range, shares);
  return shares;
}
ByteRange pages(std::uint64_t first, std::uint64_t count) {
  return {kBase + first * kPage, kBase + (first + count) * kPage};
}
ByteRange block(Kind kind, std::size_t bytes, Location home) {
  void* begin = managed_allocate({.what = {.kind = kind}, .size = bytes, .requester = home, .own_pages = true});
  EXPECT_NE(begin, nullptr);
  return ByteRange::of(begin, bytes);
}
MigrationCounts migrate(ByteRange range, Location to) {
  Migration migration;
  EXPECT_TRUE(migration.add(range, to));
  while (!migration.step()) {
  }
  EXPECT_TRUE(migration.done());
  return migration.counts();
}

TEST(Migration, ForeignPagesAreNotedWhereTheyWere) {
  ASSERT_TRUE(pretending);
  MigrationCounts counts = migrate(pages(0, 1000), 3);
  EXPECT_EQ(counts.untouched, 1000u);  // nobody has said where they are
  EXPECT_EQ(shares_of(pages(0, 1000)).at[3], 1000 * kPage);
  counts = migrate(pages(500, 1000), 3);
  EXPECT_EQ(counts.there, 500u);
  counts = migrate(pages(0, 1500), 4);
  EXPECT_EQ(counts.moved, 1500u);
  EXPECT_EQ(counts.stayed(), 0u);
  EXPECT_EQ(shares_of(pages(0, 1500)).at[4], 1500 * kPage);
}

TEST(Migration, AManagedBlockThatMovesAsAWholeStaysComputed) {
  const ByteRange range = block(Kind::nearest, 64 * kPage, 2);
  EXPECT_EQ(shares_of(range).at[2], 64 * kPage);
  EXPECT_EQ(migrate(range, 5).moved, 64u);
  EXPECT_EQ(owner_table.owner(range.begin + 9 * kPage), 5);
  EXPECT_EQ(migrate(range, 5).there, 64u);
  // A part: from then on pages are looked up, and those that did not move are where they were.
  migrate({range.begin + 8 * kPage, range.begin + 16 * kPage}, 1);
  EXPECT_EQ(owner_table.owner(range.begin), kUnknown);
  EXPECT_EQ(shares_of(range).at[1], 8 * kPage);
  EXPECT_EQ(shares_of(range).at[5], 56 * kPage);
  managed_release(reinterpret_cast<void*>(range.begin));
}

TEST(Migration, PartsOfOneBlockMayMoveTogether) {
  const ByteRange all = block(Kind::nearest, 64 * kPage, 1);
  Migration migration;
  for (std::uint64_t i = 0; i < 3; ++i)
    ASSERT_TRUE(migration.add({all.begin + i * 16 * kPage, all.begin + (i + 1) * 16 * kPage}, 2));
  while (!migration.step()) {
  }
  EXPECT_EQ(migration.counts().moved, 48u);
  EXPECT_EQ(shares_of(all).at[2], 48 * kPage);
  EXPECT_EQ(shares_of(all).at[1], 16 * kPage);
}

TEST(Migration, PagesAreDealtInTurn) {
  const Location at[] = {6, 0, 3};
  Migration migration;
  ASSERT_TRUE(migration.add_in_turn(pages(0, 1200), at, 3));
  EXPECT_TRUE(migration.step(Migration::kNoLimit));
  for (std::uint64_t page = 0; page < 1200; ++page) EXPECT_EQ(shares_of(pages(page, 1)).at[at[page % 3]], kPage);
}

TEST(Migration, WhatCannotBeIsRefusedAtOnce) {
  Migration migration;
  EXPECT_FALSE(migration.add(pages(0, 1), kNodes));
  EXPECT_FALSE(migration.add(pages(0, 1), -1));
  EXPECT_FALSE(migration.add({}, 0));
  void* small = managed_allocate({.what = {.kind = Kind::nearest}, .size = kPage, .requester = 1});
  EXPECT_FALSE(migration.add(ByteRange::of(small, kPage), 0));  // several blocks have one region
  managed_release(small);
  EXPECT_TRUE(migration.done());
  EXPECT_TRUE(migration.step());
}

TEST(Migration, ACallHoldsNobodyLongerThanItIsTold) {
  Migration migration;
  ASSERT_TRUE(migration.add(pages(0, 4096), 2));
  EXPECT_EQ(migration.left(), 8u);
  EXPECT_FALSE(migration.step(0));  // one batch
  EXPECT_EQ(migration.left(), 7u);
  EXPECT_FALSE(migration.done());
  EXPECT_TRUE(migration.step(Migration::kNoLimit));
  EXPECT_TRUE(migration.done());
}

TEST(Migration, ATeamMovesInParallel) {
  constexpr int kParts = 40;
  Migration migration;
  AreaId id = 0;
  for (int i = 0; i < kParts; ++i) {
    const ByteRange range = pages(static_cast<std::uint64_t>(i) * 2000, 1500);
    areas.add(range, AreaKind::registered, kUnknown, id);
    ASSERT_TRUE(migration.add(range, i % kNodes));
  }
  std::vector<std::thread> team;
  for (int i = 0; i < 4; ++i)
    team.emplace_back([&] {
      while (!migration.step(0)) {
      }
      while (!migration.done()) {
      }
    });
  for (std::thread& one : team) one.join();
  const MigrationCounts counts = migration.counts();
  EXPECT_EQ(counts.moved + counts.there + counts.untouched, kParts * 1500u);
  for (int i = 0; i < kParts; ++i)
    EXPECT_EQ(shares_of(pages(static_cast<std::uint64_t>(i) * 2000, 1500)).at[i % kNodes], 1500 * kPage);
  EXPECT_EQ(areas.bytes_at(3), kParts / kNodes * 1500 * kPage);
  areas.remove_all(pages(0, kParts * 2000));
}

// What the observer has heard, by cause.
std::atomic<std::uint64_t> told_pages[5], told_notes{0};
std::atomic<bool> told_wrongly{false};

TEST(Migration, WhatMovesIsToldOnceForManyPagesAndWithItsCause) {
  migrate(pages(0, 5000), 1);
  set_move_observer([](const MoveNote& note) {
    told_pages[static_cast<int>(note.cause)].fetch_add(note.pages, std::memory_order_relaxed);
    told_notes.fetch_add(1, std::memory_order_relaxed);
    if (note.to != 2 || note.begin < kBase) told_wrongly.store(true, std::memory_order_relaxed);
  });
  migrate(pages(0, 5000), 2);
  EXPECT_EQ(told_pages[static_cast<int>(MoveCause::call)], 5000u);
  EXPECT_EQ(told_notes, 1u);
  migrate(pages(0, 5000), 2);  // it is there
  EXPECT_EQ(told_notes, 1u);
  migrate(pages(0, 5000), 1);
  told_wrongly = false;
  Migration migration(MoveCause::touch);
  ASSERT_TRUE(migration.add(pages(0, 5000), 2));
  std::vector<std::thread> team;
  for (int i = 0; i < 4; ++i)
    team.emplace_back([&] {
      while (!migration.step(0)) {
      }
    });
  for (std::thread& one : team) one.join();
  EXPECT_EQ(told_pages[static_cast<int>(MoveCause::touch)], 5000u);
  EXPECT_FALSE(told_wrongly);
  set_move_observer(nullptr);
}

TEST(NextTouch, ASmallTouchMovesWhatIsWorthItAndEndsWhatIsThere) {
  constexpr double kPasses = 10;
  migrate(pages(0, 1536), 7);
  ASSERT_EQ(next_touch(pages(0, 1536), Touch::announced), AreaResult::done);
  Migration one_page;
  EXPECT_FALSE(add_announced(one_page, pages(3, 1), 0, kPasses));  // a call costs more than it saves
  Migration half_pages;
  const ByteRange inside{pages(3, 1).begin + 1, pages(4, 1).end - 1};
  EXPECT_FALSE(add_announced(half_pages, inside, 0));  // no whole page
  Migration many;
  EXPECT_TRUE(add_announced(many, pages(0, 1024), 0, kPasses));
  EXPECT_TRUE(many.step(Migration::kNoLimit));
  EXPECT_EQ(shares_of(pages(0, 1536)).at[0], 1024 * kPage);
  Migration at_home;
  EXPECT_FALSE(add_announced(at_home, pages(1024, 512), 7, kPasses));
  EXPECT_FALSE(areas.any_announced());  // whoever comes later from elsewhere moves nothing
  EXPECT_EQ(shares_of(pages(0, 1536)).at[7], 512 * kPage);
  areas.remove_all(pages(0, 1536));
}

TEST(NodeStats, APretendedMachineHasWhatItsModelSays) {
  NodeStats stats;
  ASSERT_TRUE(node_stats(0, stats));
  EXPECT_FALSE(node_stats(kNodes, stats));
  EXPECT_FALSE(node_stats(-1, stats));
  AreaId id = 0;
  for (Location i = 0; i < kNodes; ++i)
    if (i != 6) areas.add(pages(static_cast<std::uint64_t>(i) * 10, 4), AreaKind::registered, i, id);
  EXPECT_EQ(select_home(Choice::least_loaded, 2), 6);
  areas.remove_all(pages(0, 100));
  EXPECT_EQ(select_home(Choice::least_loaded, 2), 2);
  EXPECT_EQ(select_home(Choice::nearest, 5), 5);
  EXPECT_NE(select_home(Choice::most_free, 5), kUnknown);
}

TEST(Costs, AreThoseOfTheMachine) {
  EXPECT_EQ(costs().locations(), kNodes);
  EXPECT_LT(costs().read_ns(0, 0, 1 << 20), costs().read_ns(0, 7, 1 << 20));
  EXPECT_EQ(&costs(), &costs());
}

}  // namespace
}  // namespace hearth::memory
