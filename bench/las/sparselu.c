// SparseLU: LU factorisation of a sparse matrix of dense blocks; one malloc per block that is not zero, those
// that fill in after the others. The kernels have the names of the Barcelona suite: lu0, fwd, bdiv, bmod.
#include <math.h>
#include <stdlib.h>

#include "las.h"

// The paper: 8192 x 8192, blocks of 256 x 256; on the manycore 1152 x 1152, blocks of 36 x 36.
static struct las_argument arguments[kLasArguments] = {{"size", 768, 8192, 2, 1 << 16},
                                                       {"block", 64, 256, 1, 4096}};

enum kernel { kLu0, kFwd, kBdiv, kBmod };
static const long kWeights[] = {2, 3, 3, 6};  // floating-point operations, in thirds of side³

static int side;    // of a block
static int blocks;  // in a row
static size_t words;
static float** matrix;  // null: a block of zeros

static bool is_present(int i, int j) { return abs(i - j) <= 1 || (i * 7 + j * 5) % 4 == 0; }

/// The input; dominated by its diagonal, so that no pivots are needed.
static float initial(int row, int column) {
  if (row == column) return (float)(blocks * side);
  if (!is_present(row / side, column / side)) return 0;
  return (float)((unsigned)(row * 2654435761u + (unsigned)column * 40503u) >> 8) / (1 << 24);
}

static float** at(int i, int j) { return &matrix[i * blocks + j]; }

static void new_block(int i, int j) {
  float* block = *at(i, j) = las_malloc(words * sizeof(float));
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column)
      block[row * side + column] = initial(i * side + row, j * side + column);
  }
}

static void prepare(void) {
  side = (int)arguments[1].value;
  if (arguments[0].value % side != 0) las_fail("the size must be a multiple of the block");
  blocks = (int)arguments[0].value / side;
  words = (size_t)side * (size_t)side;
  matrix = calloc((size_t)blocks * (size_t)blocks, sizeof(*matrix));
  if (matrix == NULL) las_fail("no memory");
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      if (is_present(i, j)) new_block(i, j);
    }
  }
  for (int k = 0; k < blocks; ++k) {
    for (int i = k + 1; i < blocks; ++i) {
      for (int j = k + 1; j < blocks && *at(i, k) != NULL; ++j) {
        if (*at(k, j) != NULL && *at(i, j) == NULL) new_block(i, j);
      }
    }
  }
}

static void plan_one(enum kernel kernel, int step, int i, int j, int k) {
  las_plan((struct las_task){(int)kernel, 3 * k + step, kWeights[kernel], i, j, k, 0});
}

static void plan(void) {
  for (int k = 0; k < blocks; ++k) {
    plan_one(kLu0, 0, k, k, k);
    for (int j = k + 1; j < blocks; ++j) {
      if (*at(k, j) != NULL) plan_one(kFwd, 1, k, j, k);
    }
    for (int i = k + 1; i < blocks; ++i) {
      if (*at(i, k) != NULL) plan_one(kBdiv, 1, i, k, k);
    }
    for (int i = k + 1; i < blocks; ++i) {
      for (int j = k + 1; j < blocks && *at(i, k) != NULL; ++j) {
        if (*at(k, j) != NULL) plan_one(kBmod, 2, i, j, k);
      }
    }
  }
}

static void create(struct las_task task) {
  float* diagonal = *at(task.k, task.k);
  float* row = *at(task.k, task.j);
  float* column = *at(task.i, task.k);
  float* inner = *at(task.i, task.j);
  switch (task.kind) {
    case kLu0:
#pragma omp task firstprivate(task) depend(inout : diagonal[0 : words])
      las_run(task);
      break;
    case kFwd:
#pragma omp task firstprivate(task) depend(in : diagonal[0 : words]) depend(inout : row[0 : words])
      las_run(task);
      break;
    case kBdiv:
#pragma omp task firstprivate(task) depend(in : diagonal[0 : words]) depend(inout : column[0 : words])
      las_run(task);
      break;
    case kBmod:
#pragma omp task firstprivate(task) depend(in : row[0 : words], column[0 : words]) \
    depend(inout : inner[0 : words])
      las_run(task);
      break;
  }
}

static void lu0(float* d, int n) {
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      const float factor = d[i * n + k] /= d[k * n + k];
      for (int j = k + 1; j < n; ++j) d[i * n + j] -= factor * d[k * n + j];
    }
  }
}

static void fwd(const float* restrict d, float* restrict row, int n) {
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      const float factor = d[i * n + k];
      for (int j = 0; j < n; ++j) row[i * n + j] -= factor * row[k * n + j];
    }
  }
}

static void bdiv(const float* restrict d, float* restrict column, int n) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      const float factor = column[i * n + k] /= d[k * n + k];
      for (int j = k + 1; j < n; ++j) column[i * n + j] -= factor * d[k * n + j];
    }
  }
}

static void bmod(const float* restrict row, const float* restrict column, float* restrict inner, int n) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      const float factor = column[i * n + k];
      for (int j = 0; j < n; ++j) inner[i * n + j] -= factor * row[k * n + j];
    }
  }
}

static void run(struct las_task task) {
  switch (task.kind) {
    case kLu0: lu0(*at(task.k, task.k), side); break;
    case kFwd: fwd(*at(task.k, task.k), *at(task.k, task.j), side); break;
    case kBdiv: bdiv(*at(task.k, task.k), *at(task.i, task.k), side); break;
    case kBmod: bmod(*at(task.k, task.j), *at(task.i, task.k), *at(task.i, task.j), side); break;
  }
}

static void touches(const struct las_task* task) {
  const size_t bytes = words * sizeof(float);
  las_touches(*at(task->i, task->j), bytes, 0);
  if (task->kind == kFwd || task->kind == kBdiv) las_touches(*at(task->k, task->k), bytes, 0);
  if (task->kind == kBmod) {
    las_touches(*at(task->k, task->j), bytes, 0);
    las_touches(*at(task->i, task->k), bytes, 0);
  }
}

// An element of L (diagonal: ones) or of U.
static double lower(int row, int column) {
  const float* block = *at(row / side, column / side);
  if (row == column) return 1;
  return row > column && block != NULL ? block[row % side * side + column % side] : 0;
}

static double upper(int row, int column) {
  const float* block = *at(row / side, column / side);
  return row <= column && block != NULL ? block[row % side * side + column % side] : 0;
}

/// L (U x) = A x for some x, as far as single precision goes.
static void check(void) {
  const int size = blocks * side;
  double* ux = malloc((size_t)size * sizeof *ux);
  if (ux == NULL) las_fail("no memory");
  for (int row = 0; row < size; ++row) {
    ux[row] = 0;
    for (int column = row; column < size; ++column) ux[row] += upper(row, column) * (1 + column % 3);
  }
  for (int row = 0; row < size; ++row) {
    double left = 0, right = 0;
    for (int column = 0; column <= row; ++column) left += lower(row, column) * ux[column];
    for (int column = 0; column < size; ++column) right += (double)initial(row, column) * (1 + column % 3);
    if (!(fabs(left - right) <= 2e-6 * size * sqrt(size))) las_fail("wrong result");
  }
  free(ux);
}

static void release(void) {
  for (int i = 0; i < blocks * blocks; ++i) {
    if (matrix[i] != NULL) las_free(matrix[i]);
  }
  free(matrix);
}

int main(int argc, char** argv) {
  return las_main(
      argc, argv,
      &(struct las_benchmark){"sparselu", arguments, prepare, plan, create, run, touches, check, release});
}
