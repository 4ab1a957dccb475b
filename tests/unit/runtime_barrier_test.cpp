// Barrier and join: nobody goes on before all have come and all tasks are complete; flat teams and trees.
#include "runtime/team/barrier.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/process/startup.h"
#include "runtime/sync/wait.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

// More CPUs than there are, as far as the runtime knows: teams of more than kFlat members are trees then. Idle workers read
// the number, so none is left when it changes.
class Cpus {
 public:
  explicit Cpus(std::int32_t count) {
    pause_resources(Thread::current());
    before_ = contention.cpus;
    contention.cpus = count;
  }
  ~Cpus() {
    pause_resources(Thread::current());
    contention.cpus = before_;
  }

 private:
  std::int32_t before_;
};

struct Shape {
  int threads;
  int cpus;
  bool flat;
};

class Barriers : public testing::TestWithParam<Shape> {};

TEST_P(Barriers, NobodyGoesOnBeforeAllHaveCome) {
  const Cpus cpus(GetParam().cpus);
  constexpr int kRounds = 30;
  std::atomic<int> arrived{0};
  std::atomic<int> early{0};
  const int threads = GetParam().threads;
  run_region(threads, [&](Thread* self) {
    EXPECT_EQ(self->team->flat, GetParam().flat);
    for (int round = 1; round <= kRounds; ++round) {
      arrived.fetch_add(1, std::memory_order_relaxed);
      barrier(self);
      if (arrived.load(std::memory_order_relaxed) < round * threads) early.fetch_add(1);
      barrier(self);
    }
  });
  EXPECT_EQ(early.load(), 0);
  EXPECT_EQ(arrived.load(), kRounds * threads);
}

TEST_P(Barriers, TasksAreCompleteWithAllTheirDescendants) {
  const Cpus cpus(GetParam().cpus);
  std::atomic<int> ran{0}, missing{0};
  const int threads = GetParam().threads;
  run_region(threads, [&](Thread* self) {
    for (int round = 1; round <= 5; ++round) {
      for (int i = 0; i < 3; ++i)
        spawn_child(self, [&ran] {
          for (int k = 0; k < 2; ++k) spawn_child(Thread::current(), [&ran] { ran.fetch_add(1); });
          ran.fetch_add(1);
        });
      barrier(self);
      if (ran.load() < round * threads * 9) missing.fetch_add(1);
      barrier(self);
    }
  });
  EXPECT_EQ(missing.load(), 0);
  EXPECT_EQ(ran.load(), 5 * threads * 9);
}

TEST_P(Barriers, TheJoinWaitsForTasksThatNobodyWaitsFor) {
  const Cpus cpus(GetParam().cpus);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    run_region(GetParam().threads, [&ran](Thread* self) {
      for (int i = 0; i < 4; ++i) spawn_child(self, [&ran] { ran.fetch_add(1); });
    });
    EXPECT_EQ(ran.load(), 4 * GetParam().threads);
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, Barriers,
                         testing::Values(Shape{1, 2, true}, Shape{2, 2, true}, Shape{8, 2, true}, Shape{9, 2, true},
                                         Shape{9, 64, false}, Shape{20, 64, false}));

TEST(BarrierWords, AMembersArrivalCountsUpByOneForEachBarrier) {
  std::vector<std::uint64_t> words;
  run_region(2, [&words](Thread* self) {
    if (self->tid == 0) words.push_back(self->member->arrival.load() >> 1);
    for (int i = 0; i < 3; ++i) {
      barrier(self);
      if (self->tid == 0) words.push_back(self->member->arrival.load() >> 1);
    }
  });
  for (std::size_t i = 1; i < words.size(); ++i) EXPECT_EQ(words[i], words[i - 1] + 1);
}

TEST(BarrierWords, MembersWhoSatOutARegionCountOnFromTheFurthest) {
  const auto barriers = [](int threads, int count) {
    run_region(threads, [count](Thread* self) {
      for (int i = 0; i < count; ++i) barrier(self);
    });
  };
  barriers(4, 1);
  barriers(2, 7);
  std::vector<std::uint64_t> phases(4);
  run_region(4, [&phases](Thread* self) {
    barrier(self);
    phases[static_cast<std::size_t>(self->tid)] = self->member->phase;
  });
  for (const std::uint64_t phase : phases) EXPECT_EQ(phase, phases[0]);
}

TEST(BarrierDeathTest, AnExplicitTaskIsNoPlaceForABarrier) {
  EXPECT_DEATH(run_region(2,
                          [](Thread* self) {
                            if (self->tid == 0) spawn_child(self, [] { barrier(Thread::current()); });
                          }),
               "with an explicit task, is in a barrier");
}

}  // namespace
}  // namespace hearth::rt
