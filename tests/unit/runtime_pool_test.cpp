// Worker threads: hired, parked, hired again, and sent home.
#include "runtime/team/pool.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/process/startup.h"
#include "runtime/state/thread_table.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

std::set<int> gtids_of_region(int threads) {
  std::vector<int> gtids(static_cast<std::size_t>(threads), -1);
  run_region(threads, [&gtids](Thread* self) { gtids[static_cast<std::size_t>(self->tid)] = self->gtid; });
  return {gtids.begin(), gtids.end()};
}

TEST(Pool, EveryMemberOfARegionIsAThreadOfItsOwn) {
  const std::set<int> gtids = gtids_of_region(6);
  EXPECT_EQ(gtids.size(), 6u);
  EXPECT_EQ(gtids.count(-1), 0u);
  for (const int gtid : gtids) {
    ASSERT_NE(thread_by_gtid(gtid), nullptr);
    EXPECT_EQ(thread_by_gtid(gtid)->gtid, gtid);
  }
}

TEST(Pool, NoThreadHasANumberThatWasNeverGiven) {
  Thread::current();
  EXPECT_EQ(thread_by_gtid(-1), nullptr);
  EXPECT_EQ(thread_by_gtid(1 << 20), nullptr);
}

TEST(Pool, WorkersOfATeamThatIsGoneServeTheNextOne) {
  // Each thread of the program disbands its team when it ends: the next one hires the same workers.
  std::set<int> all;
  for (int round = 0; round < 10; ++round)
    std::thread([&all] {
      const std::set<int> gtids = gtids_of_region(4);
      EXPECT_EQ(gtids.size(), 4u);
      all.insert(gtids.begin(), gtids.end());
    }).join();
  EXPECT_LE(all.size(), 8u) << "ten teams of four, one after the other";
}

TEST(Pool, ThreadsOfTheProgramHireAtOnce) {
  std::atomic<int> members{0};
  std::vector<std::thread> crowd;
  for (int t = 0; t < 4; ++t)
    crowd.emplace_back([&members] {
      for (int round = 0; round < 50; ++round)
        run_region(1 + round % 4, [&members](Thread*) { members.fetch_add(1, std::memory_order_relaxed); });
    });
  for (auto& thread : crowd) thread.join();
  int expected = 0;
  for (int round = 0; round < 50; ++round) expected += 1 + round % 4;
  EXPECT_EQ(members.load(), 4 * expected);
}

TEST(Pool, NestedTeamsHaveThreadsOfTheirOwn) {
  Thread* self = Thread::current();
  self->task->icvs->max_active_levels = 3;
  std::atomic<int> inner{0};
  run_region(3, [&inner](Thread*) { run_region(3, [&inner](Thread*) { inner.fetch_add(1); }); });
  EXPECT_EQ(inner.load(), 9);
}

TEST(Pool, AfterAPauseTheNextRegionStartsThreadsAnew) {
  EXPECT_EQ(gtids_of_region(5).size(), 5u);
  EXPECT_TRUE(pause_resources(Thread::current()));
  EXPECT_EQ(gtids_of_region(5).size(), 5u);
}

}  // namespace
}  // namespace hearth::rt
