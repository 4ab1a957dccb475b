// Algorithms 1 and 2 on modelled machines: where tasks are dealt, and who may steal from whom.
#include "policy/policies.h"
#include "policy_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hearth::policy {
namespace {

// The paper's: six cores each, and as near as in a package is each second one beyond.
class Opteron : public testing::Test {
 protected:
  Opteron() {
    std::fill(nodes.cache.begin(), nodes.cache.end(), 853'333);
    load.staffed = 0xff;
  }

  Location deal(const Need& need, Location creator) { return locality.deal(machine, need, creator, load); }

  EightNodes nodes{6, [](int from, int to) { return in_one_package(from, to) || (from + to) % 2 == 0; }};
  const std::vector<std::uint32_t>& distance = nodes.distance;
  MachineView machine = nodes.view;
  LoadView load;
};

TEST_F(Opteron, TellsWhyItHasDecided) {
  const auto why = [this](const Need& need) { return locality.why(machine, need, 0, load); };
  Need need(8);
  EXPECT_EQ(why(need), Why::unknown_place);
  need.read.at[3] = 64;
  EXPECT_EQ(why(need), Why::small_gain);
  machine.significance = Significance::paper;
  EXPECT_EQ(why(need), Why::small_data);
  need.read.at[3] = 1 << 20;
  EXPECT_EQ(why(need), Why::dealt);
}

TEST_F(Opteron, ATaskGoesToTheNodeThatHoldsItsBytes) {
  for (Location home = 0; home < 8; ++home) {
    Need need(8);
    need.written.at[home] = 128 << 10;
    EXPECT_EQ(deal(need, 0), home);
  }
}

TEST_F(Opteron, TheCostIsBytesTimesDistanceSoTheMiddleCanWin) {
  // Two pages' worth at each end and nothing between: any node one hop from both is as good as the sum tells.
  Need need(8);
  need.read.at[0] = 1 << 20;
  need.read.at[1] = 1 << 20;
  need.read.at[6] = 3 << 19;
  std::uint64_t least = UINT64_MAX;
  for (int n = 0; n < 8; ++n) {
    std::uint64_t cost = 0;
    for (int i = 0; i < 8; ++i) cost += need.read.at[i] * distance[n * 8 + i];
    least = cost < least ? cost : least;
  }
  const Location chosen = deal(need, 7);
  ASSERT_GE(chosen, 0);
  std::uint64_t cost = 0;
  for (int i = 0; i < 8; ++i) cost += need.read.at[i] * distance[chosen * 8 + i];
  EXPECT_EQ(cost, least);
}

// Of every number of locations, of sizes up to those that no sum can hold exactly.
TEST(Prices, NoStaffedLocationIsCheaper) {
  std::uint64_t seed = 1;
  const auto random = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  for (int round = 0; round < 2000; ++round) {
    const auto count = static_cast<Location>(1 + random(placement::kMaxLocations));
    const auto cells = static_cast<std::size_t>(count * count);
    std::vector<std::uint32_t> distance(cells), hops(cells), cores(count, 1);
    std::vector<float> price(static_cast<std::size_t>(price_row(count) * price_row(count)));
    for (Location from = 0; from < count; ++from)
      for (Location to = 0; to < count; ++to) {
        distance[from * count + to] = from == to ? 10 : static_cast<std::uint32_t>(11 + random(245));
        hops[from * count + to] = from != to;
      }
    MachineView machine{
        .locations = count, .distance = distance.data(), .hops = hops.data(), .cores = cores.data()};
    fill_prices(machine, price.data());
    machine.price = price.data();
    const int size = static_cast<int>(random(46));
    Need need(count);
    for (Location i = 0; i < count; ++i)
      if (random(3) == 0) need.read.at[i] = std::uint64_t{1 + random(1000)} << size;
    need.written.at[random(static_cast<std::uint64_t>(count))] = std::uint64_t{1} << size;
    LoadView load;
    load.turn = static_cast<std::uint32_t>(round);
    for (Location i = 0; i < count; ++i) load.staffed |= std::uint64_t{random(4) != 0} << i;
    const auto cost = [&](Location n) {
      long double sum = 0;
      for (Location i = 0; i < count; ++i)
        sum += static_cast<long double>(need.read.at[i] + 2 * need.written.at[i]) * distance[n * count + i];
      return sum;
    };
    // Each location's bytes may be less by a unit, of which all have more than 2^12.
    std::uint64_t all = 0;
    for (Location i = 0; i < count; ++i) all += need.read.at[i] + 2 * need.written.at[i];
    const long double inexact = all < 1 << 16 ? 0 : static_cast<long double>(all) / (1 << 12) * 255 * count;
    const Location chosen = locality.deal(machine, need, placement::kUnknown, load);
    if (load.staffed == 0) {
      EXPECT_EQ(chosen, kHere);
      continue;
    }
    ASSERT_GE(chosen, 0);
    ASSERT_LT(chosen, count);
    EXPECT_NE(load.staffed >> chosen & 1, 0u);
    for (Location n = 0; n < count; ++n) {
      if ((load.staffed >> n & 1) != 0) {
        EXPECT_LE(cost(chosen), cost(n) + inexact);
      }
    }
  }
}

TEST_F(Opteron, AWrittenByteCountsTwice) {
  Need need(8);
  need.read.at[2] = 3 << 19;
  need.written.at[5] = 1 << 20;
  EXPECT_EQ(deal(need, 0), 5);
}

TEST_F(Opteron, NothingKnownStaysHere) {
  Need need(8);
  need.read.unknown = 1 << 20;
  EXPECT_EQ(deal(need, 3), kHere);
}

TEST_F(Opteron, ATaskOfFewBytesMayRunAnywhere) {
  Need need(8);
  need.read.at[7] = 64;
  EXPECT_EQ(deal(need, 0), kHere);
  need.read.at[7] = 0;
  need.read.at[0] = 64;
  EXPECT_EQ(deal(need, 0), kHere);
}

TEST_F(Opteron, BytesThatAreSpreadEvenlyStayHere) {
  Need need(8);
  for (auto& bytes : need.read.at) bytes = 1 << 20;
  machine.significance = Significance::paper;
  EXPECT_EQ(deal(need, 3), kHere);
}

TEST_F(Opteron, OfEqualsTheCreatorsOwnIsTakenFirst) {
  Need need(8);
  need.read.at[2] = 1 << 20;
  need.read.at[3] = 1 << 20;
  EXPECT_EQ(deal(need, 2), 2);
  EXPECT_EQ(deal(need, 3), 3);
}

TEST_F(Opteron, OtherEqualsTakeTurns) {
  Need need(8);
  need.read.at[2] = 1 << 20;
  need.read.at[3] = 1 << 20;
  std::vector<int> chosen(8, 0);
  for (load.turn = 0; load.turn < 8; ++load.turn) ++chosen[deal(need, 7)];
  EXPECT_GT(chosen[2], 0);
  EXPECT_GT(chosen[3], 0);
  EXPECT_EQ(chosen[2] + chosen[3], 8);
}

TEST_F(Opteron, NobodyIsSentWhereTheTeamHasNoMember) {
  Need need(8);
  need.written.at[5] = 1 << 20;
  load.staffed = 0xff & ~(1u << 5);
  const Location chosen = deal(need, 0);
  EXPECT_NE(chosen, 5);
  ASSERT_GE(chosen, 0);
  EXPECT_EQ(distance[chosen * 8 + 5], 16u);
}

TEST_F(Opteron, ThePapersSizeTestHoldsSmallTasksBack) {
  machine.significance = Significance::paper;
  Need need(8);
  need.read.at[6] = 853'333;
  EXPECT_EQ(deal(need, 0), kHere);
  need.read.at[6] += 1;
  EXPECT_EQ(deal(need, 0), 6);
}

TEST_F(Opteron, ThresholdsByHopsAndCores) {
  EXPECT_TRUE(locality.may_steal(machine, 0, 0, 1));
  EXPECT_FALSE(locality.may_steal(machine, 0, 0, 0));
  EXPECT_FALSE(locality.may_steal(machine, 0, 1, 6));
  EXPECT_TRUE(locality.may_steal(machine, 0, 1, 7));
  EXPECT_FALSE(locality.may_steal(machine, 0, 3, 12));
  EXPECT_TRUE(locality.may_steal(machine, 0, 3, 13));
}

TEST_F(Opteron, ThresholdsByRawDistanceAndNone) {
  machine.threshold = Threshold::slit;
  EXPECT_FALSE(locality.may_steal(machine, 0, 1, 16));
  EXPECT_TRUE(locality.may_steal(machine, 0, 1, 17));
  machine.threshold = Threshold::none;
  EXPECT_TRUE(locality.may_steal(machine, 0, 3, 1));
  EXPECT_FALSE(locality.may_steal(machine, 0, 3, 0));
}

TEST_F(Opteron, OrderIsByDistanceAndBeginsElsewhereForEverybody) {
  std::vector<Location> order(8);
  for (Location from = 0; from < 8; ++from) {
    order_by_distance(machine, from, order.data());
    EXPECT_EQ(order[0], from);
    for (int i = 1; i < 8; ++i)
      EXPECT_LE(machine.hops_between(from, order[i - 1]), machine.hops_between(from, order[i]));
    std::vector<bool> seen(8, false);
    for (Location at : order) seen[at] = true;
    EXPECT_EQ(seen, std::vector<bool>(8, true));
  }
}

TEST(Policies, AreFoundByName) {
  EXPECT_EQ(find_policy("locality"), &locality);
  EXPECT_EQ(find_policy("work-stealing"), &work_stealing);
  EXPECT_EQ(find_policy("central"), &central);
  EXPECT_EQ(find_policy("home-cache"), &home_cache);
  EXPECT_EQ(find_policy("adaptive"), &adaptive);
  EXPECT_EQ(find_policy("fastest"), nullptr);
  std::size_t count = 0;
  while (policy_at(count) != nullptr) ++count;
  EXPECT_EQ(count, 5u);
}

}  // namespace
}  // namespace hearth::policy
