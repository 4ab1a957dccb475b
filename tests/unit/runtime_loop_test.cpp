// The loop schedules below the compilers' interfaces: iteration counts that no program of a test suite could
// run one by one.
#include "runtime/state/region.h"
#include "runtime/loop/loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/team/fork.h"

namespace hearth::rt {
namespace {

TEST(StaticBlocks, CoverEverythingOnceInOrder) {
  for (const std::uint64_t trip : {0ull, 1ull, 7ull, 1000ull, ~0ull}) {
    for (const std::uint64_t members : {1u, 2u, 3u, 64u}) {
      std::uint64_t end = 0;
      for (std::uint64_t tid = 0; tid < members; ++tid) {
        const Block block = static_block(trip, tid, members);
        EXPECT_EQ(block.first, end);
        EXPECT_LE(block.end - block.first, trip / members + (trip % members != 0 ? 1 : 0));
        end = block.end;
      }
      EXPECT_EQ(end, trip);
    }
  }
}

TEST(StaticBlocks, OfDifferentMembersCoverEverythingOnceInProportion) {
  const std::vector<std::vector<std::uint32_t>> teams = {{1024, 512}, {1024, 1024, 400, 400}, {1}, {1, 1'000'000, 1}, {7, 0, 5}};
  for (const std::uint64_t trip : {0ull, 1ull, 7ull, 1000ull, 123'456'789ull, ~0ull}) {
    for (const std::vector<std::uint32_t>& weights : teams) {
      const std::uint32_t total = std::accumulate(weights.begin(), weights.end(), 0u);
      std::uint64_t end = 0;
      std::uint32_t before = 0;
      for (const std::uint32_t weight : weights) {
        const Block block = weighted_block(trip, before, weight, total);
        EXPECT_EQ(block.first, end);
        const double exact = static_cast<double>(trip) * weight / total;
        EXPECT_NEAR(static_cast<double>(block.end - block.first), exact, 1 + exact * 1e-12);
        end = block.end;
        before += weight;
      }
      EXPECT_EQ(end, trip);
    }
  }
}

struct Record {
  std::uint64_t trip;
  LoopPlan plan;
  std::atomic<std::uint64_t> iterations{0}, sum{0}, too_large{0}, fallen{0}, last{0};
};

void share(void* data) {
  Record& run = *static_cast<Record*>(data);
  Thread* self = Thread::current();
  begin_loop(self, run.trip, run.plan);
  std::uint64_t first = 0, count = 0, before = 0;
  bool ran_last = false;
  while (next_chunk(self, first, count)) {
    run.iterations += count;
    run.sum += first / run.plan.chunk;
    if (run.plan.kind == ScheduleKind::dynamic && count > run.plan.chunk) ++run.too_large;
    if (run.plan.monotonic && first < before) ++run.fallen;
    before = first;
    ran_last = first + count == run.trip;
  }
  if (ran_last) ++run.last;
  end_loop(self);
}

void run_with(Record& run, int threads) {
  Region region;
  region.function = reinterpret_cast<void*>(&share);
  region.data = &run;
  region.num_threads = threads;
  parallel(Thread::current(), region);
}

class LongLoops : public testing::TestWithParam<int> {};

TEST_P(LongLoops, MoreChunksThanARangeHasUnitsRunOnce) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 18, kChunks = std::uint64_t{3} << 20;
  for (const bool monotonic : {false, true}) {
    Record run{kChunk * kChunks - 5, {ScheduleKind::dynamic, kChunk, monotonic}};
    run_with(run, GetParam());
    EXPECT_EQ(run.iterations, run.trip);
    EXPECT_EQ(run.sum, kChunks * (kChunks - 1) / 2);
    EXPECT_EQ(run.too_large, 0u);
    EXPECT_EQ(run.fallen, 0u);
    EXPECT_EQ(run.last, 1u) << "the last chunk is its thread's last one";
  }
}

TEST_P(LongLoops, GuidedTakesMoreIterationsThanACounterHas) {
  Record run{~std::uint64_t{0} - 12, {ScheduleKind::guided, 1000, true}};
  run_with(run, GetParam());
  EXPECT_EQ(run.iterations, run.trip);
  EXPECT_EQ(run.fallen, 0u);
  EXPECT_EQ(run.last, 1u);
}

INSTANTIATE_TEST_SUITE_P(Threads, LongLoops, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace hearth::rt
