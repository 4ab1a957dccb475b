// Matmul: C = A B in square blocks, one malloc per block. A task computes one block of C from a row of blocks
// of A and a column of blocks of B. The product of two blocks is a plain loop: Debian's serial OpenBLAS hands
// out its buffers without a lock, so sgemm calls of several tasks at once give wrong results on every
// runtime.
#include <stdlib.h>

#include "las.h"

// The paper: 4096 x 4096, blocks of 128 x 128.
static struct las_argument arguments[kLasArguments] = {{"size", 512, 4096, 2, 1 << 16},
                                                       {"block", 64, 128, 1, 4096}};

static int side;    // of a block
static int blocks;  // in a row
static size_t words;
static float** a;
static float** b;
static float** c;

// Small whole numbers: every sum is exact, in whatever order they are added.
static float left_at(int row, int column) { return (float)((row * 3 + column * 5 + row * column % 7) % 4); }
static float right_at(int row, int column) { return (float)((row * 7 + column + row * column % 5) % 3); }
static float zero_at(int row, int column) { return (float)(0 * row * column); }

static float** new_matrix(float (*value)(int, int)) {
  float** matrix = malloc((size_t)blocks * (size_t)blocks * sizeof *matrix);
  if (matrix == NULL) las_fail("no memory");
  for (int at = 0; at < blocks * blocks; ++at) {
    matrix[at] = las_malloc(words * sizeof(float));
    for (int row = 0; row < side; ++row) {
      for (int column = 0; column < side; ++column)
        matrix[at][row * side + column] = value(at / blocks * side + row, at % blocks * side + column);
    }
  }
  return matrix;
}

static void prepare(void) {
  side = (int)arguments[1].value;
  if (arguments[0].value % side != 0) las_fail("the size must be a multiple of the block");
  blocks = (int)arguments[0].value / side;
  words = (size_t)side * (size_t)side;
  a = new_matrix(left_at);
  b = new_matrix(right_at);
  c = new_matrix(zero_at);
}

static void plan(void) {
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) las_plan((struct las_task){.weight = 1, .i = i, .j = j});
  }
}

static void create(struct las_task task) {
  const int i = task.i, j = task.j;
#pragma omp task firstprivate(task) depend(inout : c[i * blocks + j][0 : words]) \
    depend(iterator(int k = 0 : blocks), in : a[i * blocks + k][0 : words], b[k * blocks + j][0 : words])
  las_run(task);
}

static void add_product(float* restrict sum, const float* restrict left, const float* restrict right) {
  for (int row = 0; row < side; ++row) {
    for (int inner = 0; inner < side; ++inner) {
      const float factor = left[row * side + inner];
      for (int column = 0; column < side; ++column)
        sum[row * side + column] += factor * right[inner * side + column];
    }
  }
}

static void run(struct las_task task) {
  for (int k = 0; k < blocks; ++k)
    add_product(c[task.i * blocks + task.j], a[task.i * blocks + k], b[k * blocks + task.j]);
}

static void touches(const struct las_task* task) {
  las_touches(c[task->i * blocks + task->j], words * sizeof(float), 0);
  for (int k = 0; k < blocks; ++k) {
    las_touches(a[task->i * blocks + k], words * sizeof(float), 0);
    las_touches(b[k * blocks + task->j], words * sizeof(float), 0);
  }
}

// Freivalds: C x = A (B x) for vectors x of small whole numbers; a wrong block escapes with a chance of one
// half each.
static void times(float** matrix, const double* x, double* y) {
  for (int row = 0; row < blocks * side; ++row) {
    y[row] = 0;
    for (int column = 0; column < blocks * side; ++column)
      y[row] +=
          (double)matrix[row / side * blocks + column / side][row % side * side + column % side] * x[column];
  }
}

static void check(void) {
  const size_t size = (size_t)blocks * (size_t)side;
  double* x = malloc(4 * size * sizeof *x);
  if (x == NULL) las_fail("no memory");
  double *bx = x + size, *abx = bx + size, *cx = abx + size;
  unsigned state = 4711;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < size; ++i) {
      state = state * 1664525u + 1013904223u;
      x[i] = state >> 28;
    }
    times(b, x, bx);
    times(a, bx, abx);
    times(c, x, cx);
    for (size_t i = 0; i < size; ++i) {
      if (cx[i] != abx[i]) las_fail("wrong result");
    }
  }
  free(x);
}

static void drop_matrix(float** matrix) {
  for (int at = 0; at < blocks * blocks; ++at) las_free(matrix[at]);
  free(matrix);
}

static void release(void) {
  drop_matrix(a);
  drop_matrix(b);
  drop_matrix(c);
}

int main(int argc, char** argv) {
  return las_main(
      argc, argv,
      &(struct las_benchmark){"matmul", arguments, prepare, plan, create, run, touches, check, release});
}
