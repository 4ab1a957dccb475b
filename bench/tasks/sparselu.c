// LU factorisation of a sparse matrix of dense blocks; the order of the tasks comes from `depend` alone.
//
// One creator makes all tasks, and the blocks that fill in, while others run. A block is written by one task
// at a time and always in the same order, so the result must equal the serial one bit by bit. The two shapes
// differ in the block size: with small blocks the dependences are all that is measured.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bench.h"
#include "driver.h"

static int blocks;  // per row
static int side;    // of a block
static double** input;
static double** matrix;
static double** answer;

static size_t block_bytes(void) { return (size_t)side * (size_t)side * sizeof(double); }

static double* new_block(void) {
  double* block = calloc(1, block_bytes());
  if (!block) bench_fail("sparselu: no memory");
  return block;
}

static double** new_matrix(void) {
  double** pointers = calloc((size_t)blocks * (size_t)blocks, sizeof(double*));
  if (!pointers) bench_fail("sparselu: no memory");
  return pointers;
}

static bool is_present(int i, int j) { return abs(i - j) <= 1 || (i * 7 + j * 5) % 4 == 0; }

static void factor_diagonal(double* d) {
  for (int k = 0; k < side; ++k) {
    for (int i = k + 1; i < side; ++i) {
      d[i * side + k] /= d[k * side + k];
      for (int j = k + 1; j < side; ++j) d[i * side + j] -= d[i * side + k] * d[k * side + j];
    }
  }
}

static void solve_row(const double* d, double* row) {
  for (int k = 0; k < side; ++k) {
    for (int i = k + 1; i < side; ++i) {
      for (int j = 0; j < side; ++j) row[i * side + j] -= d[i * side + k] * row[k * side + j];
    }
  }
}

static void solve_column(const double* d, double* column) {
  for (int i = 0; i < side; ++i) {
    for (int k = 0; k < side; ++k) {
      column[i * side + k] /= d[k * side + k];
      for (int j = k + 1; j < side; ++j) column[i * side + j] -= column[i * side + k] * d[k * side + j];
    }
  }
}

static void update(const double* column, const double* row, double* inner) {
  for (int i = 0; i < side; ++i) {
    for (int k = 0; k < side; ++k) {
      const double factor = column[i * side + k];
      for (int j = 0; j < side; ++j) inner[i * side + j] -= factor * row[k * side + j];
    }
  }
}

// With `in_tasks`, called inside a region by one thread.
static void factor(double** m, bool in_tasks) {
  for (int k = 0; k < blocks; ++k) {
    double* d = m[k * blocks + k];
#pragma omp task firstprivate(d) depend(inout : d[0]) if (in_tasks)
    factor_diagonal(d);
    for (int j = k + 1; j < blocks; ++j) {
      double* row = m[k * blocks + j];
      if (!row) continue;
#pragma omp task firstprivate(d, row) depend(in : d[0]) depend(inout : row[0]) if (in_tasks)
      solve_row(d, row);
    }
    for (int i = k + 1; i < blocks; ++i) {
      double* column = m[i * blocks + k];
      if (!column) continue;
#pragma omp task firstprivate(d, column) depend(in : d[0]) depend(inout : column[0]) if (in_tasks)
      solve_column(d, column);
    }
    for (int i = k + 1; i < blocks; ++i) {
      double* column = m[i * blocks + k];
      if (!column) continue;
      for (int j = k + 1; j < blocks; ++j) {
        double* row = m[k * blocks + j];
        if (!row) continue;
        if (!m[i * blocks + j]) m[i * blocks + j] = new_block();
        double* inner = m[i * blocks + j];
#pragma omp task firstprivate(column, row, inner) depend(in : column[0], row[0]) \
    depend(inout : inner[0]) if (in_tasks)
        update(column, row, inner);
      }
    }
  }
}

static void copy_input(double** to) {
  for (int i = 0; i < blocks * blocks; ++i) {
    if (input[i]) {
      if (!to[i]) to[i] = new_block();
      memcpy(to[i], input[i], block_bytes());
    } else {
      free(to[i]);
      to[i] = NULL;
    }
  }
}

static void prepare(bool cutoff) {
  blocks = cutoff ? 16 : 36;
  side = cutoff ? 32 : 4;
  input = new_matrix();
  matrix = new_matrix();
  answer = new_matrix();
  unsigned state = 4711;
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      if (!is_present(i, j)) continue;
      double* block = input[i * blocks + j] = new_block();
      for (int e = 0; e < side * side; ++e) {
        state = state * 1664525u + 1013904223u;
        block[e] = (double)(state >> 8) / (1 << 24);
      }
      if (i != j) continue;
      for (int e = 0; e < side; ++e)
        block[e * side + e] += blocks * side;  // diagonally dominant: no pivoting needed
    }
  }
  copy_input(answer);
  factor(answer, false);
}

static void reset(void) { copy_input(matrix); }

static void run(void) {
#pragma omp parallel
#pragma omp single
  factor(matrix, true);
}

static void check(void) {
  for (int i = 0; i < blocks * blocks; ++i) {
    if (!matrix[i] != !answer[i]) bench_fail("sparselu: block %d is there in one result only", i);
    if (matrix[i] && memcmp(matrix[i], answer[i], block_bytes()) != 0)
      bench_fail("sparselu: block %d is wrong", i);
  }
  if (!isfinite(matrix[blocks * blocks - 1][side * side - 1]))
    bench_fail("sparselu: the factorisation broke down");
}

int main(int argc, char** argv) {
  static const struct task_benchmark benchmark = {
      "sparselu", "16 x 16 blocks of 32 x 32", "36 x 36 blocks of 4 x 4", prepare, reset, run, check};
  return task_benchmark_main(argc, argv, &benchmark);
}
