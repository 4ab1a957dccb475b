// Footprints on a pretended machine of eight nodes: what clauses and calls become, and how many bytes that is
// where.
#include "runtime/locality/footprint.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include <gtest/gtest.h>

#include "memory/owners.h"
#include "runtime/locality/length_guess.h"
#include "runtime/task/create.h"
#include "runtime/task/finish.h"
#include "runtime/locality/team_locality.h"
#include "runtime/locality/dealing.h"
#include "runtime/state/dependence.h"
#include "runtime/locality/probe_word.h"

namespace hearth::rt {
namespace {

using memory::kPage;
using placement::Access;
using placement::Kind;
using placement::Need;

const int pretending = setenv("HEARTH_MACHINE", HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml", 1);
constexpr std::int32_t kNodes = 8;

// A block of managed memory, and its bytes by number.
struct Block {
  explicit Block(Kind kind, std::size_t bytes)
      : size(bytes),
        begin(static_cast<char*>(memory::managed_allocate({.what = {.kind = kind}, .size = bytes}))) {}
  ~Block() { memory::managed_release(begin); }
  std::uint64_t at(std::size_t offset = 0) const { return reinterpret_cast<std::uintptr_t>(begin) + offset; }
  placement::Location home() const { return memory::owner_table.owner(at()); }
  std::size_t size;
  char* begin;
};

class Footprints : public testing::Test {
 protected:
  Footprints() : self(Thread::current()) {}

  Task* task() { return made.emplace_back(new_task(self, 0, 0)); }
  static Need need_of(Task* task) {
    Need need(kNodes);
    if (task->is(kTaskFootprint)) resolve(*task->footprint, need);
    return need;
  }
  Need need_of_next() { return need_of(task()); }
  void announce_range(std::uint64_t begin, std::uint64_t length, Access access, bool decides = false) {
    FootprintRange range;
    range.begin = begin;
    range.length = length;
    range.access = access;
    range.decides = decides;
    announce(self, range);
  }
  // What a depend clause with one item becomes; length 0: gcc.
  const FootprintRange& from_clause(const void* address, std::size_t length) {
    const Dependence item{address, length, DependKind::out, false};
    Task* one = task();
    one->function = [](void*) {};
    take_footprint_from(self, one, &item, 1);
    return one->footprint->ranges[0];
  }
  ~Footprints() override {
    for (Task* each : made) recycle(self, each);
    if (self->task->is(kTaskAnnounced)) drop_announced(self->task);
  }

  Thread* self;
  std::vector<Task*> made;
};

TEST_F(Footprints, AreMadeOnlyWhereThereAreSeveralLocations) {
  ASSERT_NE(self->team->locality, nullptr);
  EXPECT_FALSE(task()->is(kTaskFootprint)) << "nobody has said anything";
}

TEST_F(Footprints, ACallIsAboutTheNextTaskAlone) {
  const Block block(Kind::coarse, 64 * kPage);
  announce_range(block.at(), 3 * kPage, Access::read);
  announce_range(block.at(8 * kPage), kPage, Access::read_write);
  Task* first = task();
  EXPECT_FALSE(task()->is(kTaskFootprint));
  const Need need = need_of(first);
  EXPECT_TRUE(first->footprint->stated);
  for (int i = 0; i < kNodes; ++i) {
    EXPECT_EQ(need.read.at[i], i == block.home() ? 4 * kPage : 0);
    EXPECT_EQ(need.written.at[i], i == block.home() ? kPage : 0);
  }
}

TEST_F(Footprints, ACallInOneTaskSaysNothingOfAnothersTasks) {
  const Block block(Kind::coarse, kPage);
  announce_range(block.at(), kPage, Access::read);
  Task* const outer = self->task;
  outer->flags &= ~kTaskAnnounced;  // the child is made by a construct before
  Task* child = task();
  outer->flags |= kTaskAnnounced;
  self->task = child;
  EXPECT_FALSE(task()->is(kTaskFootprint));
  announce_range(block.at(), kPage, Access::read);
  EXPECT_TRUE(child->is(kTaskAnnounced)) << "goes when the child's descriptor does";
  self->task = outer;
  EXPECT_TRUE(task()->is(kTaskFootprint));
}

TEST_F(Footprints, MoreRangesThanAnybodyReadsAreLeftOut) {
  const Block block(Kind::coarse, kPage);
  for (std::uint32_t i = 0; i < kMostAnnounced + 10; ++i) announce_range(block.at(), 1, Access::read);
  EXPECT_EQ(need_of_next().read.at[block.home()], kMostAnnounced);
}

TEST_F(Footprints, OnlyMarkedRangesCountBesideMarkedOnes) {
  const Block a(Kind::coarse, 16 * kPage), b(Kind::coarse, 16 * kPage);
  ASSERT_NE(a.home(), b.home());
  announce_range(a.at(), 16 * kPage, Access::read_write);
  announce_range(b.at(), kPage, Access::read, true);
  const Need need = need_of_next();
  EXPECT_EQ(need.read.at[a.home()] + need.written.at[a.home()], 0u);
  EXPECT_EQ(need.read.at[b.home()], kPage);
}

TEST_F(Footprints, FineMemoryIsCountedPageByPage) {
  const Block block(Kind::fine, 64 * kPage);
  announce_range(block.at(), 64 * kPage, Access::write);
  const Need need = need_of_next();
  for (int i = 0; i < kNodes; ++i) EXPECT_EQ(need.written.at[i], 8 * kPage);
}

TEST_F(Footprints, RowsOfABlockAreCountedAndNotWhatLiesBetween) {
  // A matrix of 64 rows of eight pages, fine: column block k of page width lies at one location.
  const Block matrix(Kind::fine, 64 * 8 * kPage);
  for (int column = 0; column < kNodes; ++column) {
    FootprintRange rows;
    rows.begin = matrix.at(static_cast<std::size_t>(column) * kPage);
    rows.length = kPage;
    rows.rows = 64;
    rows.pitch = 8 * kPage;
    rows.access = Access::read;
    announce(self, rows);
    const Need need = need_of_next();
    const placement::Location home = memory::owner_table.owner(rows.begin);
    for (int i = 0; i < kNodes; ++i) EXPECT_EQ(need.read.at[i], i == home ? 64 * kPage : 0) << column;
  }
}

TEST_F(Footprints, OfManyRowsSomeStandForAllAndNoRhythmMisleads) {
  const Block matrix(Kind::fine, std::size_t{1024} * 3 * kPage);
  FootprintRange rows;
  rows.begin = matrix.at();
  rows.length = kPage;
  rows.rows = 1024;
  rows.pitch = 3 * kPage;
  announce(self, rows);
  const Need need = need_of_next();
  std::uint64_t sum = 0, most = 0;
  for (int i = 0; i < kNodes; ++i) {
    sum += need.read.at[i];
    most = std::max(most, need.read.at[i]);
  }
  EXPECT_EQ(sum, 1024 * kPage);
  EXPECT_LE(most, sum / 3) << "an eighth each, in truth";
}

TEST_F(Footprints, NarrowGapsLeaveNoPageOut) {
  const Block matrix(Kind::coarse, 64 * kPage);
  FootprintRange rows;
  rows.begin = matrix.at();
  rows.length = 512;
  rows.rows = 256;
  rows.pitch = 1024;
  rows.access = Access::read;
  announce(self, rows);
  EXPECT_EQ(need_of_next().read.at[matrix.home()], 256u * 512u);
}

TEST_F(Footprints, ATasksShareOfATaskloopFollowsItsIterations) {
  const Block block(Kind::blocked, 64 * kPage);  // eight pages at each location
  FootprintRange range;
  range.begin = block.at();
  range.per_iteration = kPage;
  range.access = Access::write;
  announce(self, range);
  announce_range(block.at(), 5, Access::read);  // all tasks read that
  const auto loop = LoopFootprint::announced_by(self->task);
  ASSERT_TRUE(static_cast<bool>(loop));
  for (std::uint64_t part = 0; part < 8; ++part) {
    Task* one = task();
    loop.give(one, 8 * part, 8);
    const Need need = need_of(one);
    EXPECT_EQ(need.written.at[memory::owner_table.owner(block.at(8 * part * kPage))], 8 * kPage);
    EXPECT_EQ(need.read.at[block.home()], 5u);
  }
}

TEST_F(Footprints, LoopsThatGoDownInMemory) {
  const Block block(Kind::blocked, 64 * kPage);
  FootprintRange range;
  range.begin = block.at(63 * kPage);
  range.per_iteration = -static_cast<std::int64_t>(kPage);
  range.access = Access::write;
  announce(self, range);
  Task* pattern = task();  // as clang has it: made before the loop is known
  const auto loop = LoopFootprint::of_pattern(pattern);
  EXPECT_FALSE(pattern->is(kTaskFootprint));
  Task* one = task();
  loop.give(one, 0, 8);
  EXPECT_EQ(one->footprint->ranges[0].begin, block.at(56 * kPage));
  EXPECT_EQ(need_of(one).written.at[memory::owner_table.owner(block.at(63 * kPage))], 8 * kPage);
}

TEST_F(Footprints, AnnouncedRangesWinOverClauses) {
  const Block a(Kind::coarse, kPage), b(Kind::coarse, kPage);
  announce_range(a.at(), kPage, Access::read);
  Task* one = task();
  const Dependence item{b.begin, kPage, DependKind::out, false};
  take_footprint_from(self, one, &item, 1);
  EXPECT_EQ(one->footprint->count, 1u);
  EXPECT_EQ(one->footprint->ranges[0].begin, a.at());
}

TEST_F(Footprints, APointerToABlockStandsForTheBlock) {
  const Block block(Kind::coarse, 32 * kPage);
  static void* pointers[4];
  pointers[1] = block.begin;
  pointers[2] = block.begin + 8;
  for (const std::size_t length : {std::size_t{8}, std::size_t{0}}) {
    const FootprintRange& range = from_clause(&pointers[1], length);
    EXPECT_EQ(range.begin, block.at());
    EXPECT_EQ(range.length, block.size);
    EXPECT_FALSE(range.inferred);
    EXPECT_EQ(from_clause(&pointers[0], length).begin, reinterpret_cast<std::uintptr_t>(&pointers[0]))
        << "null";
    EXPECT_EQ(from_clause(&pointers[2], length).begin, reinterpret_cast<std::uintptr_t>(&pointers[2]))
        << "inside";
  }
  // An exact length that is not a pointer's is what the program means.
  EXPECT_EQ(from_clause(&pointers[1], 16).begin, reinterpret_cast<std::uintptr_t>(&pointers[1]));
  EXPECT_EQ(from_clause(reinterpret_cast<char*>(&pointers[1]) + 4, 0).begin,
            reinterpret_cast<std::uintptr_t>(&pointers[1]) + 4);
}

TEST_F(Footprints, AFreedBlockIsNoBlock) {
  static void* pointer;
  {
    const Block block(Kind::coarse, 32 * kPage);
    pointer = block.begin;
  }
  EXPECT_EQ(from_clause(&pointer, 8).begin, reinterpret_cast<std::uintptr_t>(&pointer));
}

TEST_F(Footprints, InventedAddressesAreNotRead) {
  const Block block(Kind::coarse, kPage);  // or nobody would look
  void* closed = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (void* address :
       {reinterpret_cast<void*>(0x10), reinterpret_cast<void*>(~std::uintptr_t{0} - 7), closed})
    EXPECT_EQ(from_clause(address, 0).begin, reinterpret_cast<std::uintptr_t>(address));
  munmap(closed, kPage);
}

TEST_F(Footprints, PointersAreFoundWhereverTheyLie) {
  const Block block(Kind::coarse, 32 * kPage);
  void* on_the_stack = block.begin;
  const auto in_the_heap = std::make_unique<void*>(block.begin);
  const Block small(Kind::coarse, 64), large(Kind::blocked, 4 << 20);
  auto* mapped =
      static_cast<void**>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (void* place :
       {static_cast<void*>(&on_the_stack), static_cast<void*>(in_the_heap.get()),
        static_cast<void*>(small.begin), static_cast<void*>(large.begin), static_cast<void*>(mapped)}) {
    *static_cast<void**>(place) = block.begin;
    EXPECT_EQ(from_clause(place, 8).begin, block.at());
  }
  std::thread other([&] {
    void* there = block.begin;
    EXPECT_EQ(program_word(Thread::current(), reinterpret_cast<std::uintptr_t>(&there)), block.at());
    EXPECT_EQ(program_word(Thread::current(), reinterpret_cast<std::uintptr_t>(&on_the_stack)), block.at());
  });
  other.join();
  munmap(mapped, kPage);
}

TEST_F(Footprints, MemoryThatIsGoneIsNotRead) {
  const Block block(Kind::coarse, kPage);
  // Seen by the PageMap, and unmapped behind its back.
  void* gone = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<void**>(gone) = block.begin;
  const auto begin = reinterpret_cast<std::uintptr_t>(gone);
  memory::page_map.assume({begin, begin + kPage}, 3);
  EXPECT_EQ(from_clause(gone, 8).begin, block.at());
  munmap(gone, kPage);
  EXPECT_EQ(from_clause(gone, 8).begin, begin);
  // Managed blocks that were freed; the large one's addresses are not readable any more.
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{64} * kPage, std::size_t{4} << 20}) {
    void* freed = memory::managed_allocate({.what = {.kind = Kind::fine}, .size = bytes});
    *static_cast<void**>(freed) = block.begin;
    EXPECT_EQ(from_clause(freed, 8).begin, block.at());
    memory::managed_release(freed);
    // What a slab's block held may be there still.
    const std::uint64_t named = from_clause(freed, 8).begin;
    EXPECT_TRUE(named == reinterpret_cast<std::uintptr_t>(freed) || (bytes < kPage && named == block.at()));
    announce_range(reinterpret_cast<std::uintptr_t>(freed), bytes, Access::write);
    const Need need = need_of_next();
    EXPECT_EQ(need.written.known() + need.written.unknown, bytes);
  }
}

TEST_F(Footprints, MisalignedOverlappingEmptyAndEndlessRanges) {
  const Block block(Kind::fine, 64 * kPage);
  // Every byte counts where it lies, as often as it is named.
  announce_range(block.at(kPage - 13), 13 + 7 * kPage + 29, Access::read);
  announce_range(block.at(2 * kPage + 1), 5 * kPage, Access::read);
  announce_range(block.at(3 * kPage), 0, Access::read);
  const Need need = need_of_next();
  std::uint64_t expected[kNodes] = {};
  for (std::size_t at = kPage - 13; at < 8 * kPage + 29; ++at)
    ++expected[memory::owner_table.owner(block.at(at))];
  for (std::size_t at = 2 * kPage + 1; at < 7 * kPage + 1; ++at)
    ++expected[memory::owner_table.owner(block.at(at))];
  for (int i = 0; i < kNodes; ++i) EXPECT_EQ(need.read.at[i], expected[i]) << i;
  // A length beyond the address space ends there; what is nobody's is unknown.
  announce_range(block.at(), UINT64_MAX, Access::read);
  const Need endless = need_of_next();
  EXPECT_GE(endless.read.known(), 64 * kPage);
  EXPECT_GT(endless.read.unknown, std::uint64_t{1} << 40);
}

TEST_F(Footprints, WhatNobodyHasTouchedLiesWhereTheTaskRan) {
  memory::set_locator([] { return memory::Location{6}; });
  constexpr std::size_t kBytes = 4 * kPage;
  void* fresh = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto begin = reinterpret_cast<std::uintptr_t>(fresh);
  memory::page_map.assume({begin, begin + kBytes}, memory::kUnknown);
  announce_range(begin, kBytes, Access::write);
  Task* first = task();
  EXPECT_EQ(need_of(first).written.unknown, kBytes);
  drop_footprint(first);
  announce_range(begin, kBytes, Access::read);
  EXPECT_EQ(need_of_next().read.at[6], kBytes);
  munmap(fresh, kBytes);
}

TEST_F(Footprints, ATaskIsDealtToTheNodeOfItsBytes) {
  TeamLocality& all = *self->team->locality;
  for (Location i = 0; i < all.locations; ++i) all.count_worker(i, 1);
  self->member->location.store(3, std::memory_order_relaxed);
  for (int i = 0; i < kNodes; ++i) {
    const Block block(Kind::coarse, 256 * kPage);
    announce_range(block.at(), block.size, Access::read_write);
    EXPECT_EQ(deal(self, task(), true), block.home());
  }
}

// ---- lengths that gcc does not pass

class Lengths : public testing::Test {
 protected:
  static constexpr std::uint64_t kBlock = 128 << 10, kFirst = std::uint64_t{1} << 40;
  ~Lengths() override { drop_length_guesses(self); }
  std::uint64_t guess(std::uint64_t address, std::size_t slot = 0) {
    return guess_length(self, reinterpret_cast<const void*>(0x400000), slot, address);
  }
  void begin_region() { self->team->fork.go.fetch_add(std::uint64_t{1} << 32, std::memory_order_relaxed); }
  Thread* self = Thread::current();
};

TEST_F(Lengths, AFirstAddressGetsAPageTheNextOnesTheGap) {
  EXPECT_EQ(guess(kFirst), kPage);
  for (std::uint64_t i = 1; i < 100; ++i) EXPECT_EQ(guess(kFirst + i * kBlock), kBlock);
  EXPECT_EQ(guess(kFirst), kBlock) << "seen again";
}

TEST_F(Lengths, ShuffledBlocksAreRightOnceNeighboursWereSeen) {
  for (std::uint64_t i = 0; i < 64; ++i) guess(kFirst + i * 37 % 64 * kBlock);
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(guess(kFirst + i * 37 % 64 * kBlock), kBlock) << i;
}

TEST_F(Lengths, TheLastBlockIsAsLongAsTheOthers) {
  for (std::uint64_t i = 0; i < 64; ++i) guess(kFirst + i * kBlock);
  EXPECT_EQ(guess(kFirst + 63 * kBlock), kBlock);
}

TEST_F(Lengths, TheGapBetweenTwoArraysIsNoBlock) {
  const std::uint64_t second = kFirst + (std::uint64_t{1} << 28);
  for (std::uint64_t i = 0; i < 16; ++i) {
    guess(kFirst + i * kBlock);
    guess(second + i * kBlock);
  }
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(guess(kFirst + i * kBlock), kBlock);
    EXPECT_EQ(guess(second + i * kBlock), kBlock);
  }
}

TEST_F(Lengths, ItemsOfAClauseAreApart) {
  guess(kFirst, 0);
  guess(kFirst + kBlock, 1);
  EXPECT_EQ(guess(kFirst + 2 * kBlock, 0), 2 * kBlock);
  EXPECT_EQ(guess(kFirst + 5 * kBlock, 1), 4 * kBlock);
}

TEST_F(Lengths, MemoryThatIsTakenAnewALittleBesideIsNotMeasuredAgainstWhatWasThere) {
  for (const std::uint64_t shift : {0, 32, 16}) {
    begin_region();
    for (std::uint64_t i = 0; i < 200; ++i) guess(kFirst + shift + i * 37 % 200 * kBlock);
    for (std::uint64_t i = 0; i < 200; ++i)
      EXPECT_EQ(guess(kFirst + shift + i * kBlock), kBlock) << shift << ' ' << i;
  }
}

TEST_F(Lengths, ARegionsFirstBlocksAreAsLongAsTheLastRegions) {
  for (std::uint64_t i = 0; i < 64; ++i) guess(kFirst + i * kBlock);
  begin_region();
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(guess(2 * kFirst + i * 37 % 64 * kBlock), kBlock) << i;
}

TEST_F(Lengths, MoreAddressesThanAreKeptStillGetABlocksLength) {
  for (std::uint64_t i = 0; i < 2000; ++i) guess(kFirst + i * kBlock);
  for (std::uint64_t i = 0; i < 2000; i += 99) EXPECT_EQ(guess(kFirst + i * kBlock), kBlock) << i;
}

}  // namespace
}  // namespace hearth::rt
