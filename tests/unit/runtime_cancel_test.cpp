// Cancellation: of a region, a loop, a taskgroup; what is dropped, and that all meet again after it.
#include "runtime/team/cancel.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include "runtime/loop/loop.h"
#include "runtime/loop/workshare.h"
#include "runtime/task/taskgroup.h"
#include "runtime/team/barrier.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

const int switched_on = setenv("OMP_CANCELLATION", "true", 1);

class Cancel : public testing::TestWithParam<int> {};

TEST_P(Cancel, ACancelledRegionLeavesItsBarriersAndTheNextRegionIsWhole) {
  ASSERT_EQ(switched_on, 0);
  const int threads = GetParam();
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> before{0}, after{0};
    run_region(threads, [&](Thread* self) {
      before.fetch_add(1);
      if (self->tid == threads - 1) {
        EXPECT_TRUE(cancel(self, CancelKind::parallel));
        return;
      }
      barrier(self, true);  // nobody comes: all leave
      EXPECT_TRUE(cancellation_point(self, CancelKind::parallel));
    });
    run_region(threads, [&](Thread* self) {
      EXPECT_FALSE(cancellation_point(self, CancelKind::parallel));
      for (int i = 0; i < 3; ++i) EXPECT_FALSE(barrier(self, true));
      after.fetch_add(1);
    });
    EXPECT_EQ(before.load(), threads);
    EXPECT_EQ(after.load(), threads);
  }
}

TEST_P(Cancel, ACancelledLoopEndsAndTheOneAfterTheBarrierDoesNot) {
  std::atomic<std::uint64_t> first_loop{0}, second_loop{0};
  constexpr std::uint64_t kTrip = 100'000;
  run_region(GetParam(), [&](Thread* self) {
    LoopPlan plan;
    plan.kind = ScheduleKind::dynamic;
    plan.chunk = 1;
    begin_loop(self, kTrip, plan);
    for (std::uint64_t first = 0, count = 0; next_chunk(self, first, count);) {
      first_loop.fetch_add(count, std::memory_order_relaxed);
      cancel(self, CancelKind::loop);
      if (cancellation_point(self, CancelKind::loop)) break;
    }
    end_loop(self);
    barrier(self);
    EXPECT_FALSE(workshare_cancelled(self));
    begin_loop(self, kTrip, plan);
    for (std::uint64_t first = 0, count = 0; next_chunk(self, first, count);)
      second_loop.fetch_add(count, std::memory_order_relaxed);
    end_loop(self);
    barrier(self);
  });
  EXPECT_LT(first_loop.load(), kTrip);
  EXPECT_EQ(second_loop.load(), kTrip);
}

TEST_P(Cancel, TasksOfACancelledGroupThatHaveNotBegunAreDropped) {
  std::atomic<int> inside{0}, outside{0};
  run_region(GetParam(), [&](Thread* self) {
    if (self->tid != 0) return;
    taskgroup_begin(self);
    EXPECT_TRUE(cancel(self, CancelKind::taskgroup));
    for (int i = 0; i < 50; ++i) spawn_child(self, [&inside] { inside.fetch_add(1); });
    taskgroup_end(self);
    for (int i = 0; i < 50; ++i) spawn_child(self, [&outside] { outside.fetch_add(1); });
  });
  EXPECT_EQ(inside.load(), 0);
  EXPECT_EQ(outside.load(), 50);
}

TEST(CancelOutside, ThereIsNothingToCancelWithoutARegionOrAGroup) {
  Thread* self = Thread::current();
  EXPECT_FALSE(cancel(self, CancelKind::parallel));
  EXPECT_FALSE(cancel(self, CancelKind::taskgroup));
}

INSTANTIATE_TEST_SUITE_P(Threads, Cancel, testing::Values(2, 4, 9));

}  // namespace
}  // namespace hearth::rt
