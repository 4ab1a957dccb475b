// Jacobi: the heat equation on a square, blocked in both directions; one malloc per grid, two grids that take
// turns.
//
// A block's words stand together. A task reads a block and the edges of its four neighbours and writes the
// block in the other grid. The items of depend clauses must be identical or disjoint, so the neighbours are
// named whole, where the upper and lower one give just a row. With exact=1 calls tell a runtime that listens
// which rows are meant; that is not the default, because on eight nodes it made more of the misses remote.
//
// The initial field is an eigenvector of the iteration, so that the result is known: each sweep multiplies it
// by one factor.
#include <math.h>
#include <stdlib.h>

#include "hearth/hearth.h"
#include "las.h"

// The paper: 16384 x 16384, blocks of 512 x 512; it does not say how many sweeps.
static struct las_argument arguments[kLasArguments] = {{"size", 1024, 16384, 2, 1 << 17},
                                                       {"block", 64, 512, 2, 1 << 14},
                                                       {"sweeps", 4, 10, 1, 1000},
                                                       {"exact", 0, 0, 0, 1}};

static int side;    // of a block
static int blocks;  // in a row
static int sweeps;
static size_t words;
static float* grid[2];
static double* wave[2];  // the factors of the field along rows and columns
static double decay;
static float* nothing;  // the edge of what lies outside

static float* block_at(int which, int i, int j) { return grid[which] + (size_t)(i * blocks + j) * words; }

/// The block beside, or null beyond the boundary.
static float* beside(int which, int i, int j, int down, int right) {
  i += down;
  j += right;
  return i < 0 || j < 0 || i == blocks || j == blocks ? NULL : block_at(which, i, j);
}

static double value_at(int i, int j, int row, int column) {
  return wave[0][i * side + row] * wave[1][j * side + column];
}

static double* new_wave(int size, int halves) {
  double* made = malloc((size_t)size * sizeof *made);
  if (made == NULL) las_fail("no memory");
  for (int at = 0; at < size; ++at) made[at] = sin(M_PI * halves * (at + 1) / (size + 1));
  return made;
}

static void prepare(void) {
  const int size = (int)arguments[0].value;
  side = (int)arguments[1].value;
  sweeps = (int)arguments[2].value;
  if (size % side != 0) las_fail("the size must be a multiple of the block");
  blocks = size / side;
  words = (size_t)side * (size_t)side;
  const int halves[2] = {(size + 1) / 3, (size + 1) / 4};
  decay = 0;
  for (int direction = 0; direction < 2; ++direction) {
    grid[direction] = las_malloc((size_t)size * (size_t)size * sizeof(float));
    wave[direction] = new_wave(size, halves[direction]);
    decay += cos(M_PI * halves[direction] / (size + 1)) / 2;
  }
  nothing = calloc((size_t)side, sizeof *nothing);
  if (nothing == NULL) las_fail("no memory");
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      for (int at = 0; at < side * side; ++at) {
        block_at(0, i, j)[at] = (float)value_at(i, j, at / side, at % side);
        block_at(1, i, j)[at] = 0;
      }
    }
  }
}

static void plan(void) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int i = 0; i < blocks; ++i) {
      for (int j = 0; j < blocks; ++j)
        las_plan((struct las_task){.step = sweep, .weight = 1, .i = i, .j = j, .k = sweep});
    }
  }
}

/// What the task that comes next touches, in pages; in cache lines the left and right neighbours give less.
static void say_footprint(struct las_task task) {
  const int from = task.k % 2;
  const size_t bytes = words * sizeof(float);
  const size_t row_bytes = (size_t)side * sizeof(float);
  const float* above = beside(from, task.i, task.j, -1, 0);
  const float* below = beside(from, task.i, task.j, 1, 0);
  const float* left = beside(from, task.i, task.j, 0, -1);
  const float* right = beside(from, task.i, task.j, 0, 1);
  las_footprint(block_at(1 - from, task.i, task.j), bytes, HEARTH_WRITE);
  las_footprint(block_at(from, task.i, task.j), bytes, HEARTH_READ);
  if (above != NULL) las_footprint(above + (side - 1) * side, row_bytes, HEARTH_READ);
  if (below != NULL) las_footprint(below, row_bytes, HEARTH_READ);
  if (left != NULL) las_footprint(left, bytes, HEARTH_READ);
  if (right != NULL) las_footprint(right, bytes, HEARTH_READ);
}

static void create(struct las_task task) {
  if (arguments[3].value != 0) say_footprint(task);
  const int from = task.k % 2;
  const int i = task.i, j = task.j;
  // On the boundary a block stands in for the neighbour that is not there.
  float* old = block_at(from, i, j);
  float* up = i > 0 ? block_at(from, i - 1, j) : old;
  float* down = i + 1 < blocks ? block_at(from, i + 1, j) : old;
  float* left = j > 0 ? block_at(from, i, j - 1) : old;
  float* right = j + 1 < blocks ? block_at(from, i, j + 1) : old;
  float* new = block_at(1 - from, i, j);
#pragma omp task firstprivate(task) depend(out : new[0 : words]) \
    depend(in : old[0 : words], up[0 : words], down[0 : words], left[0 : words], right[0 : words])
  las_run(task);
}

static void run(struct las_task task) {
  const int from = task.k % 2;
  const int last = side - 1;
  const float* old = block_at(from, task.i, task.j);
  float* new = block_at(1 - from, task.i, task.j);
  const float* above = beside(from, task.i, task.j, -1, 0);
  const float* below = beside(from, task.i, task.j, 1, 0);
  const float* left = beside(from, task.i, task.j, 0, -1);
  const float* right = beside(from, task.i, task.j, 0, 1);
  for (int row = 0; row < side; ++row) {
    const float* here = old + row * side;
    const float* up = row > 0 ? here - side : above != NULL ? above + last * side : nothing;
    const float* down = row < last ? here + side : below != NULL ? below : nothing;
    float* to = new + row* side;
    to[0] = 0.25f * (up[0] + down[0] + here[1] + (left != NULL ? left[row * side + last] : 0));
    for (int column = 1; column < last; ++column)
      to[column] = 0.25f * (up[column] + down[column] + here[column - 1] + here[column + 1]);
    to[last] = 0.25f * (up[last] + down[last] + here[last - 1] + (right != NULL ? right[row * side] : 0));
  }
}

static void touches(const struct las_task* task) {
  const int from = task->k % 2;
  const size_t bytes = words * sizeof(float);
  const size_t row_bytes = (size_t)side * sizeof(float);
  las_touches(block_at(from, task->i, task->j), bytes, 0);
  las_touches(block_at(1 - from, task->i, task->j), bytes, 0);
  const float* above = beside(from, task->i, task->j, -1, 0);
  const float* below = beside(from, task->i, task->j, 1, 0);
  if (above != NULL) las_touches(above + (side - 1) * side, row_bytes, 0);
  if (below != NULL) las_touches(below, row_bytes, 0);
  // A line of each row, or all of it where rows are shorter than lines.
  const size_t lines = row_bytes >= 64 ? (size_t)side : bytes / 64 + 1;
  const float* left = beside(from, task->i, task->j, 0, -1);
  const float* right = beside(from, task->i, task->j, 0, 1);
  if (left != NULL) las_touches(left, bytes, lines);
  if (right != NULL) las_touches(right, bytes, lines);
}

static void check(void) {
  const double factor = pow(decay, sweeps);
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      const float* block = block_at(sweeps % 2, i, j);
      for (int at = 0; at < side * side; ++at) {
        if (!(fabs(block[at] - factor * value_at(i, j, at / side, at % side)) < 1e-5))
          las_fail("wrong result");
      }
    }
  }
}

static void release(void) {
  for (int direction = 0; direction < 2; ++direction) {
    las_free(grid[direction]);
    free(wave[direction]);
  }
  free(nothing);
}

int main(int argc, char** argv) {
  return las_main(
      argc, argv,
      &(struct las_benchmark){"jacobi", arguments, prepare, plan, create, run, touches, check, release});
}
