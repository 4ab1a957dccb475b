// What a model says of an emulated machine: CPUs that take turns, caches with ways, the runtime's own data.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/queues.h"
#include "sim/cost/set_caches.h"
#include "sim/engine/turns.h"
#include "sim_programs.h"

namespace hearth::sim {
namespace {

constexpr Time kUs = 1000 * kNs;

TEST(Turns, PassOnlyWhileThereIsSomethingToDo) {
  Turns turns(3, 10, 1, true);
  EXPECT_EQ(turns.next_end(), kNever);
  turns.set(1, 100, 15);
  turns.set(2, 100, 4);
  EXPECT_EQ(turns.next_end(), 110u);  // the turn of 1
  EXPECT_EQ(turns.end_next(110), Turns::kNobody);
  EXPECT_EQ(turns.next_end(), 114u);  // 2 has done what it had
  EXPECT_EQ(turns.end_next(114), 2u);
  EXPECT_EQ(turns.next_end(), 114u);  // and nothing more, so its turn is over
  EXPECT_EQ(turns.end_next(114), Turns::kNobody);
  EXPECT_EQ(turns.next_end(), 119u);
  EXPECT_EQ(turns.end_next(119), 1u);
  turns.set(1, 119, 2);  // goes on in the same turn
  EXPECT_EQ(turns.next_end(), 121u);
}

TEST(Turns, EverybodyGetsOnAlikeInTheLongRun) {
  constexpr std::size_t kWorkers = 4;
  constexpr Time kEndless = Time{1} << 60;
  Turns turns(kWorkers, 1000, 7, false);
  for (std::size_t i = 0; i < kWorkers; ++i) turns.set(i, 0, kEndless);
  Time now = 0, longest = 0;
  std::vector<Time> had(kWorkers, 0);
  for (std::size_t turn = 0; turn < 40'000; ++turn) {
    const Time end = turns.next_end();
    had[turn % kWorkers] += end - now;
    longest = std::max(longest, end - now);
    ASSERT_EQ(turns.end_next(end), Turns::kNobody);
    now = end;
  }
  EXPECT_GT(longest, 1900u);
  EXPECT_LE(longest, 2000u);
  for (const Time time : had) EXPECT_NEAR(static_cast<double>(time), 10'000 * 1000.0, 250'000);
}

TEST(Turns, AnInterruptEndsTheTurnAndNobodysTimeIsLost) {
  Turns turns(2, 10, 1, true);
  turns.set(0, 0, 8);
  turns.set(1, 0, 8);
  turns.interrupt(3);
  EXPECT_EQ(turns.next_end(), 3u);
  EXPECT_EQ(turns.end_next(3), Turns::kNobody);
  EXPECT_EQ(turns.next_end(), 11u);
  EXPECT_EQ(turns.end_next(11), 1u);
  EXPECT_EQ(turns.end_next(11), Turns::kNobody);
  EXPECT_EQ(turns.next_end(), 16u);
  EXPECT_EQ(turns.end_next(16), 0u);
}

class Emulated : public Simulated {
 protected:
  Result run_in_turns(const Workload& workload, double turn_us) {
    parameters.turn_us = known(turn_us);
    return run(workload, deterministic());
  }
};

TEST_F(Emulated, AllWorkersTogetherAreAsFastAsOne) {
  const Workload tasks = flat(96, 64, 10'000);
  const Time together = run(tasks, deterministic()).makespan;
  const Result in_turns = run_in_turns(tasks, 5);
  EXPECT_EQ(in_turns.tasks, 97u);
  EXPECT_LT(together, 50 * kUs);
  EXPECT_GE(in_turns.makespan, 96 * 10 * kUs);
  EXPECT_LT(in_turns.makespan, 96 * 11 * kUs);
  EXPECT_GT(in_turns.steals, 10u);
}

TEST_F(Emulated, ALongTurnIsLongEnoughForAllTasks) {
  const Result result = run_in_turns(flat(48, 64, 1000), 1e6);
  EXPECT_EQ(result.workers[0].tasks, 49u);
  EXPECT_EQ(result.steals, 0u);
}

TEST_F(Emulated, EveryTaskEndsUnderEveryPolicy) {
  parameters.turn_us = known(7);
  for (std::size_t i = 0; const policy::TaskPolicy* policy = policy::policy_at(i); ++i) {
    RunOptions options;
    options.policy = policy;
    for (options.seed = 1; options.seed <= 5; ++options.seed) {
      const Result result = run(flat(300, 4096, 5000), options);
      EXPECT_EQ(result.unfinished, 0u) << policy->name();
      EXPECT_EQ(result.bytes(), 300u * 4096);
    }
  }
}

TEST_F(Emulated, TheRuntimesOwnDataLiesWhereTasksAreCreated) {
  parameters.task_data.create_bytes = known(640);
  parameters.task_data.run_bytes = known(320);
  RunOptions options = deterministic();
  options.seating = Seating::one_per_location;
  const Result result = run(flat(64, 0, 20'000), options);
  EXPECT_EQ(result.missed(0, 0), 64u * 640);
  std::uint64_t fetched = 0, elsewhere = 0;
  for (Location i = 1; i < result.locations; ++i) {
    fetched += result.missed(i, 0);
    elsewhere += result.workers[static_cast<std::size_t>(i)].tasks;
  }
  EXPECT_GT(elsewhere, 40u);
  EXPECT_EQ(fetched, elsewhere * 320);
}

TEST_F(Emulated, EachItemThatAClauseNamesTakesTimeToCreate) {
  const Workload tasks = flat(100, 64, 0);
  const Time before = run(tasks, deterministic()).workers[0].create;
  parameters.item_ns = known(50);
  EXPECT_EQ(run(tasks, deterministic()).workers[0].create - before, 100 * 50 * kNs - 100);
}

constexpr std::uint64_t kKib = 1024;

Extent block(std::uint64_t offset, std::uint64_t bytes) { return {0, 1, offset, bytes, 0}; }

TEST(Extents, HaveInCommonWhatLiesInBoth) {
  const Extent column{0, 8, 64, 16, 100};  // 64-79, 164-179, ...
  EXPECT_EQ(overlap(block(0, 1000), column), 8u * 16);
  EXPECT_EQ(overlap(column, block(0, 164)), 16u);
  EXPECT_EQ(overlap(column, block(70, 100)), 10u + 6);
  EXPECT_EQ(overlap(column, {0, 8, 72, 16, 100}), 8u * 8);
  EXPECT_EQ(overlap(column, {0, 8, 80, 16, 100}), 0u);
  EXPECT_EQ(overlap(block(0, 10), {1, 1, 0, 10, 0}), 0u);
}

TEST(SetCaches, KeepWhatFitsAndSomeOfWhatDoesNot) {
  // Blocks walked through in a circle: of a half, of all, and of twice the capacity.
  const auto share_of = [](std::uint64_t blocks) {
    SetCaches caches(1, 256 * kKib, 16);
    std::uint64_t held = 0;
    for (std::uint64_t i = 0; i < 20 * blocks; ++i)
      held += caches.use(0, block(i % blocks * 16 * kKib, 16 * kKib), false);
    return static_cast<double>(held) / static_cast<double>(19 * blocks * 16 * kKib);
  };
  EXPECT_GT(share_of(8), 0.98);
  EXPECT_NEAR(share_of(16), 0.467, 0.01);  // fewer than 16 where 16 are expected
  EXPECT_NEAR(share_of(17), 0.371, 0.01);
  EXPECT_LT(share_of(32), 0.001);
}

TEST(SetCaches, AsManyLinesStayAsInACacheOfRandomSets) {
  // The same, line by line: least recently used of 16 in each of 256 sets, lines falling upon sets at random.
  constexpr std::size_t kSets = 256, kWays = 16, kLines = 17 * 256;
  Random random(3);
  std::vector<std::size_t> set_of(kLines);
  for (std::size_t& set : set_of) set = random.below(kSets);
  std::vector<std::vector<std::size_t>> sets(kSets);
  std::size_t hits = 0;
  constexpr std::size_t kRounds = 10;
  for (std::size_t i = 0; i < kRounds * kLines; ++i) {
    std::vector<std::size_t>& set = sets[set_of[i % kLines]];
    const auto found = std::find(set.begin(), set.end(), i % kLines);
    hits += found != set.end();
    if (found != set.end())
      set.erase(found);
    else if (set.size() == kWays)
      set.erase(set.begin());
    set.push_back(i % kLines);
  }
  SetCaches caches(1, 256 * kKib, kWays);
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < kRounds * 17; ++i)
    held += caches.use(0, block(i % 17 * 16 * kKib, 16 * kKib), false);
  const double modelled = static_cast<double>(held) / (16 * kKib * 17 * kRounds);
  EXPECT_NEAR(modelled, static_cast<double>(hits) / (kRounds * kLines), 0.04);
}

TEST(SetCaches, ExtentsThatOverlapShareTheirLines) {
  SetCaches caches(2, 256 * kKib, 16);
  const Extent whole = block(0, 16 * kKib), column{0, 64, 192, 64, 256};
  EXPECT_EQ(caches.use(0, whole, false), 0u);
  EXPECT_NEAR(static_cast<double>(caches.use(0, column, false)), 4 * kKib, 8);
  EXPECT_NEAR(static_cast<double>(caches.use(0, whole, false)), 16 * kKib, 64);
  EXPECT_EQ(caches.use(1, column, true), 0u);  // takes those lines away
  EXPECT_NEAR(static_cast<double>(caches.use(0, whole, false)), 12 * kKib, 64);
}

TEST(SetCaches, WithoutWaysNothingIsKept) {
  SetCaches caches(1, 256 * kKib, 0);
  caches.use(0, block(0, 64), false);
  EXPECT_EQ(caches.use(0, block(0, 64), false), 0u);
}

}  // namespace
}  // namespace hearth::sim
