// NUMA-BTDM for threads that come and go.
#include "policy/btdm_online.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::policy {
namespace {

/// Nodes with cores; a cache domain in each node.
OnlineMachine machine_of(int nodes, int cores) {
  OnlineMachine machine;
  for (int node = 0; node < nodes; ++node)
    for (int core = 0; core < cores; ++core) {
      machine.cores.node_of_core.push_back(node);
      machine.domain_of_core.push_back(static_cast<std::uint32_t>(node));
    }
  return machine;
}

TEST(OnlineBtdm, PaperScattersAutonomousThreadsOverNodesThenCores) {
  OnlineBtdm btdm(machine_of(2, 6), {.balanced = false});
  std::vector<std::uint32_t> cores;
  for (int n = 0; n < 4; ++n) cores.push_back(btdm.enter(ThreadKind::autonomous, -1, 1, {}).number);
  EXPECT_EQ(cores, (std::vector<std::uint32_t>{0, 6, 1, 7}));
}

TEST(OnlineBtdm, PaperPutsASetOnOneCore) {
  OnlineBtdm btdm(machine_of(2, 6), {.balanced = false});
  const Seat first = btdm.enter(ThreadKind::side_by_side, 3, 1, {});
  btdm.enter(ThreadKind::autonomous, -1, 1, {});
  EXPECT_EQ(btdm.enter(ThreadKind::side_by_side, 3, 1, {}).number, first.number);
}

TEST(OnlineBtdm, PostponedThreadsGoWhereTheLeastLoadIs) {
  OnlineBtdm btdm(machine_of(1, 3), {.balanced = false});
  btdm.enter(ThreadKind::autonomous, -1, 5, {});
  btdm.enter(ThreadKind::autonomous, -1, 2, {});
  btdm.enter(ThreadKind::autonomous, -1, 9, {});
  EXPECT_EQ(btdm.enter(ThreadKind::postponed, -1, 1, {}).number, 1u);
}

TEST(OnlineBtdm, BalancedBindsNobodyWhereThereIsOneDomain) {
  OnlineBtdm btdm(machine_of(1, 8), {.balanced = true});
  EXPECT_EQ(btdm.enter(ThreadKind::autonomous, -1, 1, {}).kind, Seat::anywhere);
  EXPECT_EQ(btdm.enter(ThreadKind::side_by_side, 0, 1, {}).kind, Seat::anywhere);
}

TEST(OnlineBtdm, BalancedLeavesASetThatOutgrowsItsDomainToTheSystem) {
  OnlineBtdm btdm(machine_of(2, 2), {.balanced = true});
  const Seat first = btdm.enter(ThreadKind::side_by_side, 0, 1, {});
  EXPECT_EQ(first.kind, Seat::domain);
  EXPECT_EQ(btdm.enter(ThreadKind::side_by_side, 0, 1, {}).number, first.number);
  EXPECT_EQ(btdm.enter(ThreadKind::side_by_side, 0, 1, {}).kind, Seat::anywhere);
  btdm.leave(first, 0, 1);
  EXPECT_EQ(btdm.enter(ThreadKind::side_by_side, 0, 1, {}).kind, Seat::domain);
}

TEST(OnlineBtdm, SeatsThatWereLeftAreUsedAgain) {
  OnlineBtdm btdm(machine_of(2, 2), {.balanced = true});
  for (int n = 0; n < 1000; ++n) {
    const Seat a = btdm.enter(ThreadKind::autonomous, -1, 1, {});
    const Seat b = btdm.enter(ThreadKind::autonomous, -1, 1, {});
    EXPECT_NE(a.number, b.number);
    btdm.leave(a, -1, 1);
    btdm.leave(b, -1, 1);
  }
}

TEST(OnlineBtdm, UnknownThreadsAreLeftToTheSystem) {
  OnlineBtdm btdm(machine_of(2, 2), {.balanced = false});
  EXPECT_EQ(btdm.enter(ThreadKind::unknown, -1, 1, {}).kind, Seat::anywhere);
}

TEST(OnlineBtdm, AThreadMovesWhereFewerAreEvenWithIt) {
  OnlineBtdm btdm(machine_of(1, 2), {.balanced = false});
  std::vector<Seat> seats;
  for (int n = 0; n < 4; ++n) seats.push_back(btdm.enter(ThreadKind::autonomous, -1, 1, {}));
  std::uint32_t unit = 9;
  EXPECT_FALSE(btdm.better(seats[0], -1, unit)) << "two on each core";
  btdm.leave(seats[1], -1, 1);
  EXPECT_FALSE(btdm.better(seats[0], -1, unit)) << "two and one: it would only change places";
  btdm.leave(seats[3], -1, 1);
  ASSERT_TRUE(btdm.better(seats[0], -1, unit));
  EXPECT_EQ(unit, seats[1].number);
  seats[0] = btdm.move(seats[0], -1, 1, unit);
  EXPECT_EQ(seats[0].number, unit);
  EXPECT_FALSE(btdm.better(seats[0], -1, unit));
  EXPECT_FALSE(btdm.better(seats[2], -1, unit));
}

TEST(OnlineBtdm, ASetStaysTogetherUnlessItsUnitIsClosed) {
  OnlineBtdm btdm(machine_of(1, 3), {.balanced = false});
  Seat one = btdm.enter(ThreadKind::side_by_side, 4, 1, {}), two = btdm.enter(ThreadKind::side_by_side, 4, 1, {});
  std::uint32_t unit = 9, other = 8;
  EXPECT_FALSE(btdm.better(one, 4, unit));
  btdm.open(one.number, false);
  ASSERT_TRUE(btdm.better(one, 4, unit));
  EXPECT_NE(unit, one.number);
  one = btdm.move(one, 4, 1, unit);
  ASSERT_TRUE(btdm.better(two, 4, other));
  EXPECT_EQ(other, unit);
  two = btdm.move(two, 4, 1, other);
  EXPECT_EQ(btdm.enter(ThreadKind::side_by_side, 4, 1, {}).number, unit);
}

TEST(OnlineBtdm, ClosedUnitsGetNobody) {
  OnlineBtdm paper(machine_of(2, 2), {.balanced = false}), balanced(machine_of(2, 2), {.balanced = true});
  for (const std::uint32_t core : {0u, 1u, 3u}) paper.open(core, false);
  balanced.open(0, false);
  for (const ThreadKind kind : {ThreadKind::autonomous, ThreadKind::postponed, ThreadKind::side_by_side})
    for (int n = 0; n < 3; ++n) {
      EXPECT_EQ(paper.enter(kind, kind == ThreadKind::side_by_side ? 1 : -1, 1, {}).number, 2u);
      EXPECT_EQ(balanced.enter(kind, -1, 1, {}).number, 1u);
    }
  paper.open(2, false);
  EXPECT_EQ(paper.enter(ThreadKind::autonomous, -1, 1, {}).kind, Seat::anywhere);
  paper.open(0, true);
  EXPECT_EQ(paper.enter(ThreadKind::autonomous, -1, 1, {}).number, 0u);
}

TEST(OnlineBtdm, RandomMovesLeaveNoUnitFullBesideAnEmptyOne) {
  std::uint32_t dice = 7;
  const auto roll = [&](std::uint32_t sides) {
    dice = dice * 1664525 + 1013904223;
    return (dice >> 8) % sides;
  };
  for (const bool is_balanced : {false, true}) {
    OnlineBtdm btdm(machine_of(3, 4), {.balanced = is_balanced});
    std::vector<Seat> seats;
    std::vector<std::uint32_t> threads(btdm.units(), 0);
    for (int step = 0; step < 2000; ++step) {
      if (seats.empty() || roll(2) == 0) {
        seats.push_back(btdm.enter(ThreadKind::autonomous, -1, 1, {}));
        ++threads[seats.back().number];
      } else {
        const std::uint32_t which = roll(static_cast<std::uint32_t>(seats.size()));
        --threads[seats[which].number];
        btdm.leave(seats[which], -1, 1);
        seats.erase(seats.begin() + which);
      }
      const bool uneven = btdm.uneven();
      std::uint32_t ignored = 0;
      ASSERT_EQ(uneven, std::any_of(seats.begin(), seats.end(),
                                    [&](const Seat& seat) { return btdm.better(seat, -1, ignored); }));
      for (Seat& seat : seats)
        if (std::uint32_t unit = 0; btdm.better(seat, -1, unit)) {
          --threads[seat.number];
          ++threads[unit];
          seat = btdm.move(seat, -1, 1, unit);
        }
      const auto [least, most] = std::minmax_element(threads.begin(), threads.end());
      ASSERT_LE(*most - *least, 1u) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace hearth::policy
