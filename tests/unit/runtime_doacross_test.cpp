// Loops whose iterations wait for earlier ones, in both forms: a word for each row, a bit for each point.
#include "runtime/loop/doacross.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/loop/loop.h"
#include "runtime/team/barrier.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

class Doacross : public testing::TestWithParam<int> {};

LoopPlan in_order() {
  LoopPlan plan;
  plan.kind = ScheduleKind::dynamic;
  plan.chunk = 1;
  plan.doacross = true;
  return plan;
}

// Cell (i, j) needs (i-1, j) and (i, j-1): a sum of paths, which one wrong order would spoil.
std::vector<std::uint64_t> paths(std::size_t rows, std::size_t columns) {
  std::vector<std::uint64_t> cell(rows * columns, 1);
  for (std::size_t i = 1; i < rows; ++i)
    for (std::size_t j = 1; j < columns; ++j)
      cell[i * columns + j] = cell[(i - 1) * columns + j] + cell[i * columns + j - 1];
  return cell;
}

TEST_P(Doacross, RowsWaitForWhatTheRowBeforeHasPosted) {
  constexpr std::uint64_t kRows = 60, kColumns = 20;
  // Each round has its own: nobody waits between them.
  std::vector<std::vector<std::uint64_t>> cells(3, std::vector<std::uint64_t>(kRows * kColumns, 1));
  run_region(GetParam(), [&](Thread* self) {
    const std::uint64_t counts[] = {kRows, kColumns};
    for (std::vector<std::uint64_t>& cell : cells) {
      rows_begin(self, 2, counts);
      begin_loop(self, kRows, in_order());
      for (std::uint64_t first = 0, count = 0; next_chunk(self, first, count);)
        for (std::uint64_t i = first; i < first + count; ++i)
          for (std::uint64_t j = 0; j < kColumns; ++j) {
            if (i != 0) {
              const std::uint64_t above[] = {i - 1, j};
              rows_wait(self, above);
            }
            if (i != 0 && j != 0) cell[i * kColumns + j] = cell[(i - 1) * kColumns + j] + cell[i * kColumns + j - 1];
            const std::uint64_t here[] = {i, j};
            rows_post(self, here);
          }
      end_loop(self);
      doacross_end(self);
    }
    barrier(self);
  });
  for (const std::vector<std::uint64_t>& cell : cells) EXPECT_EQ(cell, paths(kRows, kColumns));
}

TEST_P(Doacross, PointsOfASpaceThatRunsDownWaitForOthersAndNotForThoseOutside) {
  constexpr std::int64_t kRows = 40, kColumns = 15;
  std::vector<std::uint64_t> cell(kRows * kColumns, 1);
  run_region(GetParam(), [&](Thread* self) {
    // i from 39 down to 0, j from -30 up in twos.
    const DoacrossDim space[] = {{kRows - 1, 0, -1}, {-30, -30 + 2 * (kColumns - 1), 2}};
    points_begin(self, 2, space);
    begin_loop(self, kRows, in_order());
    for (std::uint64_t first = 0, count = 0; next_chunk(self, first, count);)
      for (std::uint64_t n = first; n < first + count; ++n)
        for (std::int64_t m = 0; m < kColumns; ++m) {
          const std::int64_t i = kRows - 1 - static_cast<std::int64_t>(n), j = -30 + 2 * m;
          const std::int64_t above[] = {i + 1, j}, left[] = {i, j - 2}, here[] = {i, j};
          points_wait(self, above);
          points_wait(self, left);
          if (n != 0 && m != 0) {
            const auto at = n * kColumns + static_cast<std::uint64_t>(m);
            cell[at] = cell[at - kColumns] + cell[at - 1];
          }
          points_post(self, here);
        }
    end_loop(self);
    doacross_end(self);
    barrier(self);
  });
  EXPECT_EQ(cell, paths(kRows, kColumns));
}

// More constructs than there are slots: a fast member waits for its slot.
TEST_P(Doacross, SlotsAreUsedInTurnByMoreConstructsThanThereAre) {
  std::atomic<std::uint64_t> sum{0};
  run_region(GetParam(), [&sum](Thread* self) {
    const std::uint64_t counts[] = {4};
    for (int construct = 0; construct < 5 * Team::kWorkShares; ++construct) {
      rows_begin(self, 1, counts);
      begin_loop(self, 4, in_order());
      for (std::uint64_t first = 0, count = 0; next_chunk(self, first, count);) {
        if (first != 0) {
          const std::uint64_t before[] = {first - 1};
          rows_wait(self, before);
        }
        sum.fetch_add(1, std::memory_order_relaxed);
        rows_post(self, &first);
      }
      end_loop(self);
      doacross_end(self);
    }
  });
  EXPECT_EQ(sum.load(), 5u * Team::kWorkShares * 4);
}

INSTANTIATE_TEST_SUITE_P(Threads, Doacross, testing::Values(1, 2, 5));

TEST(DoacrossDeathTest, ARowThatPostsBackwardsFails) {
  EXPECT_DEATH(run_region(2,
                          [](Thread* self) {
                            const std::uint64_t counts[] = {2, 10};
                            rows_begin(self, 2, counts);
                            if (self->tid == 0) {
                              const std::uint64_t late[] = {0, 5}, early[] = {0, 3};
                              rows_post(self, late);
                              rows_post(self, early);
                            }
                            doacross_end(self);
                          }),
               "row 0 has come to 6 already, and posts 4");
}

}  // namespace
}  // namespace hearth::rt
