// Areas: what is found where, what splitting and freeing leave, a hundred thousand of them, and readers beside a writer.
#include "memory/areas.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "memory/page_index.h"
#include "topology/allowance.h"
#include "topology/current.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;

const bool pretending = topology::pretend(HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml");

// Addresses that nobody has; areas do not look at their bytes.
constexpr std::uint64_t kBase = std::uint64_t{0x1234} << 32;
ByteRange pages(std::uint64_t first, std::uint64_t count) {
  return {kBase + first * kPage, kBase + (first + count) * kPage};
}

class AreasTest : public testing::Test {
 protected:
  void TearDown() override {
    areas.set_observer(nullptr);
    areas.remove_all(pages(0, std::uint64_t{1} << 32));
    for (Location i = 0; i < 8; ++i) EXPECT_EQ(areas.bytes_at(i), 0u);
    EXPECT_FALSE(areas.any_announced());
  }
  static AreaId add(ByteRange range, Location home = kUnknown) {
    AreaId id = 0;
    EXPECT_EQ(areas.add(range, AreaKind::registered, home, id), AreaResult::done);
    return id;
  }
};

TEST(PageIndex, RangesOfEverySizeStandWhereTheyWerePut) {
  static PageIndex index;
  const AreasGuard guard;
  // A few pages, across a leaf's border, a whole leaf, and a gibibyte.
  const struct {
    std::uint64_t first, count;
  } ranges[] = {{3, 2}, {510, 4}, {1024, 512}, {std::uint64_t{1} << 18, std::uint64_t{1} << 18}};
  PageIndex::Id id = 0;
  for (const auto& range : ranges) ASSERT_TRUE(index.set(pages(range.first, range.count), ++id));
  id = 0;
  for (const auto& range : ranges) {
    ++id;
    EXPECT_EQ(index.find(kBase + range.first * kPage - 1), 0u);
    EXPECT_EQ(index.find(kBase + range.first * kPage), id);
    EXPECT_EQ(index.find(kBase + (range.first + range.count) * kPage - 1), id);
    EXPECT_EQ(index.find(kBase + (range.first + range.count) * kPage), 0u);
    EXPECT_EQ(index.first_in(pages(range.first, range.count)), id);
  }
  EXPECT_EQ(index.first_in(pages(5, 500)), 0u);
  EXPECT_EQ(index.first_in(pages(0, 2000)), 1u);
  // A hole in what one entry stood for.
  ASSERT_TRUE(index.clear(pages((std::uint64_t{1} << 18) + 700, 1)));
  EXPECT_EQ(index.find(kBase + ((std::uint64_t{1} << 18) + 700) * kPage), 0u);
  EXPECT_EQ(index.find(kBase + ((std::uint64_t{1} << 18) + 701) * kPage), 4u);
  // And all of it again, over the tables that are there now.
  ASSERT_TRUE(index.set(pages(0, std::uint64_t{1} << 20), 9));
  for (const std::uint64_t page : {std::uint64_t{4}, std::uint64_t{600}, (std::uint64_t{1} << 18) + 700})
    EXPECT_EQ(index.find(kBase + page * kPage), 9u);
  ASSERT_TRUE(index.clear(pages(0, std::uint64_t{1} << 20)));
  EXPECT_EQ(index.first_in(pages(0, std::uint64_t{1} << 20)), 0u);
}

TEST_F(AreasTest, OnlyWholePagesCount) {
  EXPECT_EQ(whole_pages({kBase + 1, kBase + kPage + 4000}).bytes(), 0u);
  EXPECT_EQ(whole_pages({kBase + 1, kBase + 2 * kPage}).begin, kBase + kPage);
  EXPECT_EQ(whole_pages({kBase + 1, kBase + 2 * kPage}).bytes(), kPage);
  EXPECT_EQ(whole_pages({kBase, UINT64_MAX}).bytes(), 0u);
  EXPECT_EQ(whole_pages({UINT64_MAX - 5, UINT64_MAX}).bytes(), 0u);
}

TEST_F(AreasTest, AreasAreFoundByAnyAddressAndNeverOverlap) {
  const AreaId id = add(pages(10, 5), 3);
  Area area;
  ASSERT_TRUE(areas.find(kBase + 12 * kPage + 77, area));
  EXPECT_EQ(area.id, id);
  EXPECT_EQ(area.range.begin, kBase + 10 * kPage);
  EXPECT_EQ(area.home, 3);
  EXPECT_EQ(areas.bytes_at(3), 5 * kPage);
  EXPECT_FALSE(areas.find(kBase + 15 * kPage, area));
  AreaId other = 0;
  EXPECT_EQ(areas.add(pages(14, 3), AreaKind::registered, kUnknown, other), AreaResult::invalid);
  EXPECT_EQ(areas.add(pages(9, 9), AreaKind::registered, kUnknown, other), AreaResult::invalid);
  EXPECT_EQ(areas.add(pages(10, 5), AreaKind::registered, kUnknown, other), AreaResult::already);
  EXPECT_EQ(other, id);
  EXPECT_EQ(areas.remove(kBase + 11 * kPage, AreaKind::allocated), AreaResult::invalid);
  EXPECT_EQ(areas.remove(kBase + 11 * kPage, AreaKind::registered), AreaResult::done);
  EXPECT_FALSE(areas.get(id, area));
  // The slot is used again; the old id stays dead.
  const AreaId next = add(pages(100, 1));
  EXPECT_NE(next, id);
  EXPECT_FALSE(areas.get(id, area));
  EXPECT_FALSE(areas.set_tag(id, 0, 1));
}

std::vector<std::pair<AreaEvent, Area>> told;

TEST_F(AreasTest, PartsKeepTagAndHomeAndTheObserverHearsOfThem) {
  told.clear();
  areas.set_observer([](AreaEvent event, const Area& area, const Area&) { told.emplace_back(event, area); });
  const AreaId id = add(pages(0, 10), 2);
  ASSERT_TRUE(areas.set_tag(id, 0, 77));
  EXPECT_FALSE(areas.set_tag(id, 0, 78));
  void* begins[3];
  ASSERT_EQ(areas.split(kBase + 5 * kPage, 3, begins), AreaResult::done);
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(begins[1]), kBase + 3 * kPage);
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(begins[2]), kBase + 6 * kPage);
  Area area;
  ASSERT_TRUE(areas.find(kBase, area));
  EXPECT_EQ(area.id, id);
  for (void* begin : begins) {
    ASSERT_TRUE(areas.find(reinterpret_cast<std::uint64_t>(begin), area));
    EXPECT_EQ(area.tag, 77u);
    EXPECT_EQ(area.home, 2);
  }
  EXPECT_EQ(areas.bytes_at(2), 10 * kPage);
  EXPECT_EQ(areas.split(kBase, 4, nullptr), AreaResult::invalid);  // three pages
  areas.remove_all(pages(2, 2));  // a page of the first part, and of the second
  EXPECT_FALSE(areas.find(kBase + 2 * kPage, area));
  EXPECT_FALSE(areas.find(kBase + 3 * kPage, area));
  EXPECT_TRUE(areas.find(kBase + kPage, area));
  EXPECT_TRUE(areas.find(kBase + 4 * kPage, area));
  std::size_t released = 0, parted = 0;
  for (const auto& [event, one] : told) {
    released += event == AreaEvent::released ? one.range.bytes() : 0;
    parted += event == AreaEvent::parted;
  }
  EXPECT_EQ(released, 2 * kPage);
  EXPECT_EQ(parted, 2u);
}

TEST_F(AreasTest, AnAttachmentGetsAnAreaOfItsOwn) {
  AreaId id = 0;
  Area area;
  ASSERT_EQ(areas.cut_out(pages(50, 4), id), AreaResult::done);  // nobody's yet
  EXPECT_TRUE(areas.get(id, area));
  AreaId again = 0;
  EXPECT_EQ(areas.cut_out(pages(50, 4), again), AreaResult::done);
  EXPECT_EQ(again, id);
  ASSERT_EQ(areas.cut_out(pages(51, 2), again), AreaResult::done);
  ASSERT_TRUE(areas.find(kBase + 52 * kPage, area));
  EXPECT_EQ(area.id, again);
  EXPECT_EQ(area.range.bytes(), 2 * kPage);
  ASSERT_TRUE(areas.find(kBase + 53 * kPage, area));
  EXPECT_EQ(area.range.bytes(), kPage);
  EXPECT_EQ(areas.cut_out(pages(53, 2), again), AreaResult::invalid);
  EXPECT_EQ(areas.cut_out(pages(49, 2), again), AreaResult::invalid);
}

TEST_F(AreasTest, AnnouncementsLastUntilTheyAreServed) {
  add(pages(0, 8));
  add(pages(8, 8));
  EXPECT_FALSE(areas.announce(pages(0, 20)));
  areas.end_announcement(pages(0, 20));
  EXPECT_FALSE(areas.any_announced());
  ASSERT_TRUE(areas.announce(pages(2, 10)));
  std::uint64_t bytes = 0;
  const auto count = [](const Area& area, void* data) { *static_cast<std::uint64_t*>(data) += area.announced.bytes(); };
  areas.for_each_announced(pages(0, 100), count, &bytes);
  EXPECT_EQ(bytes, 10 * kPage);
  areas.end_announcement(pages(0, 4));
  bytes = 0;
  areas.for_each_announced(pages(0, 8), count, &bytes);
  EXPECT_EQ(bytes, 4 * kPage);
  areas.end_announcement(pages(4, 96));
  EXPECT_FALSE(areas.any_announced());
}

TEST_F(AreasTest, AHundredThousand) {
  constexpr std::uint64_t kMany = 100'000;
  for (std::uint64_t i = 0; i < kMany; ++i) add(pages(i * 3, 2), static_cast<Location>(i % 8));
  Area area;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(areas.find(kBase + (i * 3 + 1) * kPage, area));
    ASSERT_FALSE(areas.find(kBase + (i * 3 + 2) * kPage, area));
  }
  EXPECT_EQ(areas.bytes_at(7), kMany / 8 * 2 * kPage);
}

TEST_F(AreasTest, ReadersSeeWholeAreasBesideAWriter) {
  add(pages(0, 64), 1);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    Area area;
    while (!stop.load(std::memory_order_relaxed)) {
      for (std::uint64_t page = 0; page < 64; ++page) {
        const std::uint64_t address = kBase + page * kPage;
        if (!areas.find(address, area)) continue;
        EXPECT_TRUE(area.range.begin <= address && address < area.range.end);
        EXPECT_EQ(area.home, 1);
      }
    }
  });
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(areas.split(kBase, 8, nullptr), AreaResult::done);
    areas.remove_all(pages(0, 64));
    add(pages(0, 64), 1);
  }
  stop.store(true, std::memory_order_relaxed);
  reader.join();
}

// On one processor a writer is often stopped in the middle of a change, for longer than a reader tries.
TEST_F(AreasTest, AnAreaIsFoundWhileAStoppedWriterChangesIt) {
  add(pages(0, 8), 1);
  const topology::CpuMask before = topology::current_affinity();
  topology::CpuMask one;
  one.set(before.first());
  ASSERT_TRUE(topology::set_affinity(0, one));  // threads made from here on, too
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (Location home = 0; !stop.load(std::memory_order_relaxed); home = 1 - home) areas.set_home(pages(0, 8), home);
  });
  int missed = 0;
  for (int i = 0; i < 3'000'000; ++i) {
    Area area;
    missed += !areas.find_settled(kBase, area);
  }
  stop.store(true, std::memory_order_relaxed);
  writer.join();
  EXPECT_TRUE(topology::set_affinity(0, before));
  EXPECT_EQ(missed, 0);
}

TEST_F(AreasTest, AForkChildGoesOn) {
  add(pages(0, 4));
  const pid_t child = fork();
  if (child == 0) {
    Area area;
    AreaId id = 0;
    const bool right = areas.find(kBase, area) && areas.add(pages(10, 1), AreaKind::registered, kUnknown, id) == AreaResult::done;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hearth::memory
