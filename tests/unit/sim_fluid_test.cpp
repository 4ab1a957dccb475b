// Shared rates: worked examples, and the property that makes a sharing max-min fair on random ones.
#include "sim/cost/fluid.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace hearth::sim {
namespace {

using Use = Fluid::Use;

TEST(Fluid, AloneAnActivityTakesItsOwnTime) {
  Fluid fluid;
  const auto memory = fluid.add_resource(10);
  const Use use{memory, 1};
  EXPECT_EQ(fluid.next_end(), kNever);
  fluid.start(5'000, 100'000, 800, {&use, 1});  // 8 bytes per ns
  EXPECT_EQ(fluid.next_end(), 105'000u);
  EXPECT_EQ(fluid.end_next(), 0u);
  EXPECT_EQ(fluid.active(), 0u);
  EXPECT_EQ(fluid.solved(), 0u);
}

TEST(Fluid, ComputingSharesNothing) {
  Fluid fluid;
  fluid.add_resource(1);
  fluid.start(0, 7, 0, {});
  fluid.start(0, 5, 0, {});
  EXPECT_EQ(fluid.next_end(), 5u);
  EXPECT_EQ(fluid.end_next(), 1u);
  EXPECT_EQ(fluid.next_end(), 7u);
}

TEST(Fluid, TwoHalveWhatBothWantAndTheLateOneSpeedsUpAgain) {
  Fluid fluid;
  const Use use{fluid.add_resource(10), 1};
  fluid.start(0, 100'000, 1000, {&use, 1});       // 10 per ns: all of it
  fluid.start(50'000, 100'000, 1000, {&use, 1});  // 500 left of the first: 5 per ns each
  EXPECT_DOUBLE_EQ(fluid.rate_of(0), 5);
  EXPECT_EQ(fluid.next_end(), 150'000u);
  EXPECT_EQ(fluid.end_next(), 0u);
  EXPECT_DOUBLE_EQ(fluid.rate_of(1), 10);
  EXPECT_EQ(fluid.next_end(), 200'000u);  // the machine was never idle
}

TEST(Fluid, WhatTheSlowOneLeavesTheOthersShare) {
  Fluid fluid;
  const Use use{fluid.add_resource(12), 1};
  fluid.start(0, 1'000'000, 2000, {&use, 1});  // 2 at most
  fluid.start(0, 1'000'000, 9000, {&use, 1});
  fluid.start(0, 1'000'000, 9000, {&use, 1});
  EXPECT_DOUBLE_EQ(fluid.rate_of(0), 2);
  EXPECT_DOUBLE_EQ(fluid.rate_of(1), 5);
  EXPECT_DOUBLE_EQ(fluid.rate_of(2), 5);
}

TEST(Fluid, AByteMayCostMoreThanOne) {
  Fluid fluid;
  const auto memory = fluid.add_resource(12);
  const Use reads{memory, 1}, writes{memory, 2};
  fluid.start(0, 1'000, 1'000, {&reads, 1});
  fluid.start(0, 1'000, 1'000, {&writes, 1});
  EXPECT_DOUBLE_EQ(fluid.rate_of(0), 4);
  EXPECT_DOUBLE_EQ(fluid.rate_of(1), 4);
  EXPECT_DOUBLE_EQ(fluid.load_of(memory), 12);
}

TEST(Fluid, ALinkThatIsFullHoldsBackOnlyThoseWhoCrossIt) {
  Fluid fluid;
  const auto memory = fluid.add_resource(20), link = fluid.add_resource(3);
  const Use local{memory, 1};
  const Use remote[] = {{memory, 1}, {link, 1}};
  fluid.start(0, 1'000, 100'000, {&local, 1});
  fluid.start(0, 1'000, 100'000, remote);
  fluid.start(0, 1'000, 100'000, {&local, 1});
  EXPECT_DOUBLE_EQ(fluid.rate_of(1), 3);
  EXPECT_DOUBLE_EQ(fluid.rate_of(0), 8.5);
  EXPECT_DOUBLE_EQ(fluid.rate_of(2), 8.5);
}

TEST(Fluid, ThoseThatEndTogetherCostOneSolution) {
  Fluid fluid;
  const Use use{fluid.add_resource(4), 1};
  for (int i = 0; i < 8; ++i) fluid.start(0, 1'000, 1'000, {&use, 1});
  EXPECT_EQ(fluid.next_end(), 2'000'000u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(fluid.end_next(), static_cast<Fluid::Activity>(i));
  EXPECT_EQ(fluid.next_end(), kNever);
  EXPECT_LE(fluid.solved(), 2u);
}

TEST(Fluid, NobodyIsSolvedForWhoIsNotJoinedToTheChange) {
  Fluid fluid;
  const auto one = fluid.add_resource(10), other = fluid.add_resource(10);
  const Use left{one, 1}, right{other, 1};
  for (int i = 0; i < 3; ++i) fluid.start(0, 100'000, 1000, {&left, 1});
  fluid.start(0, 100'000, 1000, {&right, 1});  // nothing of it is short
  EXPECT_DOUBLE_EQ(fluid.rate_of(3), 10);
  const std::uint64_t before = fluid.solved();
  EXPECT_EQ(fluid.next_end(), 100'000u);
  EXPECT_EQ(fluid.end_next(), 3u);
  EXPECT_EQ(fluid.next_end(), 300'000u);
  EXPECT_EQ(fluid.solved(), before);
}

TEST(Fluid, WithAGrainANewcomerGetsWhatTheOthersHaveUntilItIsSharedOutAnew) {
  Fluid fluid(1'000);
  const Use use{fluid.add_resource(12), 1};
  fluid.start(0, 1'000'000, 12'000, {&use, 1});  // 12 at most
  fluid.start(0, 1'000'000, 12'000, {&use, 1});  // the first shortage is solved at once
  EXPECT_EQ(fluid.next_end(1'999), 2'000'000u);
  EXPECT_EQ(fluid.solved(), 1u);
  fluid.start(10'000, 1'000'000, 12'000, {&use, 1});
  EXPECT_GT(fluid.next_end(10'900), 10'900u);
  EXPECT_EQ(fluid.solved(), 1u);  // three at 6
  fluid.next_end(11'000);
  EXPECT_EQ(fluid.solved(), 2u);
  EXPECT_DOUBLE_EQ(fluid.rate_of(2), 4);
  // The two had 6 for 11 ns and have 4 since; the third began 10 ns later, so it is the last.
  EXPECT_EQ(fluid.next_end(), 11'000u + 2'983'500);
  EXPECT_EQ(fluid.end_next(), 0u);
  EXPECT_EQ(fluid.end_next(), 1u);
  EXPECT_EQ(fluid.end_next(), 2u);
}

TEST(Fluid, WithoutAShortageAGrainChangesNothing) {
  Fluid fluid(1'000'000);
  const Use use{fluid.add_resource(12), 1};
  fluid.start(0, 100'000, 100, {&use, 1});
  fluid.start(50'000, 100'000, 100, {&use, 1});
  EXPECT_EQ(fluid.next_end(), 100'000u);
  fluid.end_next();
  EXPECT_EQ(fluid.next_end(), 150'000u);
  EXPECT_EQ(fluid.solved(), 0u);
}

TEST(Fluid, MoreActivitiesThanAWordHasBits) {
  Fluid fluid;
  std::vector<Use> uses;
  for (int i = 0; i < 70; ++i) uses.push_back({fluid.add_resource(1), 1});
  for (int i = 0; i < 140; ++i)
    fluid.start(0, 1'000, 1, {&uses[static_cast<std::size_t>(i % 70)], 1});  // two on each
  for (int i = 0; i < 140; ++i) {
    EXPECT_EQ(fluid.next_end(), 2'000u);
    EXPECT_EQ(fluid.end_next(), static_cast<Fluid::Activity>(i));
  }
  EXPECT_EQ(fluid.next_end(), kNever);
}

// Max-min fair: everybody has the limit, or uses something that is used up and of whose users nobody has
// more.
class Random : public testing::TestWithParam<unsigned> {};

TEST_P(Random, SharingIsMaxMinFairAndWithinAllCapacities) {
  std::mt19937 random(GetParam());
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  Fluid fluid;
  const int pipes = number(1, 12);
  std::vector<double> capacity;
  for (int i = 0; i < pipes; ++i) fluid.add_resource(capacity.emplace_back(number(1, 40)));
  std::vector<std::vector<Use>> uses;
  std::vector<double> limit;
  std::vector<bool> running;
  Time now = 0;
  for (int step = 0; step < 300; ++step) {
    if (number(0, 2) != 0 && fluid.active() < 48) {
      std::vector<Use> mine;
      for (int i = 0; i < pipes; ++i)
        if (number(0, 3) == 0) mine.push_back({static_cast<Fluid::Resource>(i), number(1, 4) / 2.0});
      const double bytes = number(0, 20) == 0 ? 0 : number(1, 100'000);
      const Time alone = static_cast<Time>(number(1, 50'000'000));
      const auto activity = fluid.start(now, alone, bytes, mine);
      if (activity >= uses.size())
        uses.resize(activity + 1), limit.resize(activity + 1), running.resize(activity + 1);
      uses[activity] = bytes > 0 ? mine : std::vector<Use>{};
      limit[activity] = bytes * 1000 / static_cast<double>(alone);
      running[activity] = true;
    } else if (fluid.active() != 0) {
      const Time end = fluid.next_end();
      ASSERT_GE(end, now);
      now = end;
      running[fluid.end_next()] = false;
    }
    for (int i = 0; i < pipes; ++i)
      ASSERT_LE(fluid.load_of(static_cast<Fluid::Resource>(i)),
                capacity[static_cast<std::size_t>(i)] * (1 + 1e-9));
    for (std::size_t a = 0; a < uses.size(); ++a) {
      if (!running[a] || uses[a].empty()) continue;
      const double rate = fluid.rate_of(static_cast<Fluid::Activity>(a));
      ASSERT_GT(rate, 0);
      ASSERT_LE(rate, limit[a] * (1 + 1e-9));
      if (rate >= limit[a] * (1 - 1e-9)) continue;
      const bool held_back = std::any_of(uses[a].begin(), uses[a].end(), [&](const Use& use) {
        if (fluid.load_of(use.resource) < capacity[use.resource] * (1 - 1e-9)) return false;
        for (std::size_t b = 0; b < uses.size(); ++b)
          for (const Use& other : uses[b])
            if (running[b] && other.resource == use.resource &&
                fluid.rate_of(static_cast<Fluid::Activity>(b)) > rate * (1 + 1e-9))
              return false;
        return true;
      });
      ASSERT_TRUE(held_back) << "activity " << a << " at step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fluid, Random, testing::Range(0u, 40u));

}  // namespace
}  // namespace hearth::sim
