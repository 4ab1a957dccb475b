// NUMA-BTDM for threads that come and go.
#include "policy/btdm_online.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hearth::policy
