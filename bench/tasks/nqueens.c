// All ways to put n queens on an n x n board: a task per queen that can stand, each with its own copy of the
// board.
//
// Every task writes its count into a slot of its parent's array; the parent adds the slots up after the
// taskwait.
#include <string.h>

#include "../common/bench.h"
#include "driver.h"

enum { kMostQueens = 12 };

struct board {
  signed char column[kMostQueens];  // of the queen in each row
};

static int n;
static int task_rows;  // rows whose placements become tasks
static long result;
static const long kSolutions[kMostQueens + 1] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200};

static bool can_stand(const struct board* board, int row, int column) {
  for (int r = 0; r < row; ++r) {
    const int distance = board->column[r] - column;
    if (distance == 0 || distance == row - r || distance == r - row) return false;
  }
  return true;
}

static long place_serial(struct board* board, int row) {
  if (row == n) return 1;
  long count = 0;
  for (int column = 0; column < n; ++column) {
    if (!can_stand(board, row, column)) continue;
    board->column[row] = (signed char)column;
    count += place_serial(board, row + 1);
  }
  return count;
}

static long place(struct board board, int row) {
  if (row == n) return 1;
  if (row >= task_rows) return place_serial(&board, row);
  long counts[kMostQueens];
  memset(counts, 0, sizeof counts);
  for (int column = 0; column < n; ++column) {
    if (!can_stand(&board, row, column)) continue;
    board.column[row] = (signed char)column;
#pragma omp task firstprivate(board, row, column) shared(counts)
    counts[column] = place(board, row + 1);
  }
#pragma omp taskwait
  long count = 0;
  for (int column = 0; column < n; ++column) count += counts[column];
  return count;
}

static void prepare(bool cutoff) {
  n = cutoff ? 11 : 10;
  task_rows = cutoff ? 3 : n;
}

static void run(void) {
#pragma omp parallel
#pragma omp single
  result = place((struct board){{0}}, 0);
}

static void check(void) {
  if (result != kSolutions[n])
    bench_fail("%d queens stand in %ld ways, not in %ld", n, kSolutions[n], result);
  result = -1;
}

int main(int argc, char** argv) {
  static const struct task_benchmark benchmark = {
      "nqueens", "11 queens, tasks for 3 rows", "10 queens, a task per queen", prepare, NULL, run, check};
  return task_benchmark_main(argc, argv, &benchmark);
}
