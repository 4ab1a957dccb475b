// Nested LU factorisation without pivoting, in panels of four columns that are dealt to the teams in turn. Step k:
// the owner's team factors what is left of panel k, then every team updates what is left of its own columns. Panels
// shrink, and the nested teams with them. A panel lies in memory row by row, without gaps.
//
// The numbers are integers modulo 2^64. The matrix is made as the product of a unit lower and an upper triangle with an
// odd diagonal, so all pivots have an inverse, and the result is known exactly.
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "forest.h"

enum { kWidth = 4, kRowsPerThread = 16 };
static struct forest_option options[] = {{"size", 512, 16, 1 << 14, NULL}, {NULL, 0, 0, 0, NULL}};

static size_t size, panels;
static word** panel;  // panel[p][row * kWidth + column]
static word* original;

static word mixed(size_t i, size_t j) {
  word x = (word)i * 0x9e3779b97f4a7c15u + j * 0xc2b2ae3d27d4eb4fu + 1;
  x ^= x >> 29;
  return (x * 0xbf58476d1ce4e5b9u) >> 40;
}
static word lower(size_t i, size_t j) { return i == j ? 1 : mixed(i, j); }
static word upper(size_t i, size_t j) { return i == j ? mixed(i, j) | 1 : mixed(i, j); }

// Modulo 2^64, by Newton's iteration: each step doubles the bits that are right, and x is right in three.
static word inverse(word x) {
  word y = x;
  for (int bits = 3; bits < 64; bits *= 2) y *= 2 - x * y;
  return y;
}

// original = lower x upper, by rows.
static void make_matrix(void) {
  size = (size_t)options[0].value;
  panels = (size + kWidth - 1) / kWidth;
  original = calloc(size * panels * kWidth, sizeof(word));
  word* row_of_upper = malloc(size * sizeof(word));
  if (original == NULL || row_of_upper == NULL) forest_fail("no memory");
  for (size_t k = 0; k < size; ++k) {
    for (size_t j = k; j < size; ++j) row_of_upper[j] = upper(k, j);
    for (size_t i = k; i < size; ++i) {
      const word factor = lower(i, k);
      for (size_t j = k; j < size; ++j) original[i * panels * kWidth + j] += factor * row_of_upper[j];
    }
  }
  free(row_of_upper);
}

static size_t panel_bytes(void) { return (size * kWidth * sizeof(word) + 4095) / 4096 * 4096; }

static int threads_for(size_t rows) {
  const size_t wanted = rows / kRowsPerThread + 1;
  return wanted < (size_t)forest.threads ? (int)wanted : forest.threads;
}

static void fill(size_t p) {
#pragma omp parallel for num_threads(forest.threads) schedule(static)
  for (size_t i = 0; i < size; ++i)
    memcpy(panel[p] + i * kWidth, original + i * panels * kWidth + p * kWidth, kWidth * sizeof(word));
}

static size_t columns_of(size_t p) { return p + 1 < panels ? kWidth : size - p * kWidth; }

// The diagonal block by one thread, the rows below by the team.
static void factor(size_t k) {
  const size_t top = k * kWidth, columns = columns_of(k);
  word* block = panel[k];
  word inverses[kWidth];
  for (size_t j = 0; j < columns; ++j) {
    inverses[j] = inverse(block[(top + j) * kWidth + j]);
    for (size_t i = j + 1; i < columns; ++i) {
      const word factor = block[(top + i) * kWidth + j] *= inverses[j];
      for (size_t c = j + 1; c < columns; ++c) block[(top + i) * kWidth + c] -= factor * block[(top + j) * kWidth + c];
    }
  }
#pragma omp parallel for num_threads(threads_for(size - top)) schedule(static)
  for (size_t i = top + columns; i < size; ++i) {
    word* row = block + i * kWidth;
    for (size_t j = 0; j < columns; ++j) {
      const word factor = row[j] *= inverses[j];
      for (size_t c = j + 1; c < columns; ++c) row[c] -= factor * block[(top + j) * kWidth + c];
    }
  }
}

// The rows of panel p beside the diagonal block of panel k.
static void solve(size_t k, size_t p) {
  const size_t top = k * kWidth;
  for (size_t j = 0; j < kWidth; ++j) {
    for (size_t i = j + 1; i < kWidth; ++i) {
      const word factor = panel[k][(top + i) * kWidth + j];
      for (size_t c = 0; c < kWidth; ++c) panel[p][(top + i) * kWidth + c] -= factor * panel[p][(top + j) * kWidth + c];
    }
  }
}

static void update_row(size_t k, size_t p, size_t i) {
  const word* left = panel[k] + i * kWidth;
  const word* above = panel[p] + k * kWidth * kWidth;
  word sums[kWidth];
  memcpy(sums, panel[p] + i * kWidth, sizeof sums);
  for (int m = 0; m < kWidth; ++m) {
    for (int c = 0; c < kWidth; ++c) sums[c] -= left[m] * above[m * kWidth + c];
  }
  memcpy(panel[p] + i * kWidth, sums, sizeof sums);
}

// All panels of this team right of panel k, in one nested region.
static void update(size_t k, size_t first, size_t stride) {
  const size_t below = (k + 1) * kWidth;
  if (first >= panels) return;
#pragma omp parallel num_threads(threads_for(size - below))
  {
#pragma omp for schedule(static)
    for (size_t p = first; p < panels; p += stride) solve(k, p);
    for (size_t p = first; p < panels; p += stride) {
#pragma omp for schedule(static) nowait
      for (size_t i = below; i < size; ++i) update_row(k, p, i);
    }
  }
}

static void run(void) {
#pragma omp parallel num_threads(forest.teams)
  {
    const size_t me = (size_t)omp_get_thread_num(), teams = (size_t)omp_get_num_threads();
    for (size_t k = 0; k < panels; ++k) {
      if (k % teams == me) factor(k);
#pragma omp barrier
      update(k, k + 1 + (me + teams - (k + 1) % teams) % teams, teams);
    }
  }
}

static void check(void) {
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) {
      if (panel[j / kWidth][i * kWidth + j % kWidth] != (i > j ? lower(i, j) : upper(i, j)))
        forest_fail("wrong at row %zu, column %zu", i, j);
    }
  }
}

static void repeat(void) {
  if (original == NULL) make_matrix();
  panel = malloc(panels * sizeof *panel);
  if (panel == NULL) forest_fail("no memory");
  for (size_t p = 0; p < panels; ++p) panel[p] = forest_pages(panel_bytes());
#pragma omp parallel num_threads(forest.teams)
  for (size_t p = (size_t)omp_get_thread_num(); p < panels; p += (size_t)omp_get_num_threads()) fill(p);

  forest_begin();
  const double start = omp_get_wtime();
  run();
  const double seconds = omp_get_wtime() - start;
  forest_end();

  check();
  for (size_t p = 0; p < panels; ++p) forest_release(panel[p], panel_bytes());
  free(panel);
  // Every step reads and writes what is left: a third of the matrix, `panels` times.
  forest_time("lu", 2.0 / 3 * (double)size * (double)size * sizeof(word) * (double)panels, seconds);
}

int main(int argc, char** argv) {
  return forest_main(argc, argv, &(struct forest_program){"nested_lu", options, 2, repeat});
}
