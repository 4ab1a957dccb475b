// An adaptive mesh whose refined zone wanders: a ring of blocks; near a centre that moves one block per step they have
// four times as many cells, a little farther twice as many. In each step the ring is cut anew into parts of equal work,
// one for each team; blocks that change their level are made anew by the team that has them now; then every block
// takes its neighbours' border cells, and a nested region computes it.
//
// So a block that did not change may come to another team, and its memory stays where it was, unless --plan=touch asks
// the runtime to bring it along.
#include <omp.h>
#include <stdlib.h>

#include "forest.h"
#include "hints.h"

enum { kMostBlocks = 1024, kFinest = 4, kPageWords = 512 };
enum plan { kStay, kTouch };
static const char* const kPlans[] = {"stay", "touch", NULL};
enum { kBlocks, kPlan };
static struct forest_option options[] = {
    {"blocks", 64, 8, kMostBlocks, NULL}, {"plan", kStay, 0, 0, kPlans}, {NULL, 0, 0, 0, NULL}};

struct block {
  word* now;
  word* next;
  size_t cells;
  word before;  // the neighbours' border cells
  word after;
  int team;
};
static struct block blocks[kMostBlocks];
static int count;
static size_t base;  // cells of a block that is not refined

static size_t cells_of(int block, int step) {
  int distance = abs(block - step % count);
  if (distance > count / 2) distance = count - distance;
  return base * (distance < count / 16 ? kFinest : distance < count / 8 ? 2 : 1);
}

// The part of the ring in whose middle the block's middle lies.
static void cut(int step, int teams, int* team_of) {
  size_t all = 0, sum = 0;
  for (int b = 0; b < count; ++b) all += cells_of(b, step);
  for (int b = 0; b < count; ++b) {
    team_of[b] = (int)((2 * sum + cells_of(b, step)) * (size_t)teams / (2 * all));
    sum += cells_of(b, step);
  }
}

static void fill(struct block* block, int number, int threads) {
  block->cells = cells_of(number, 0);
  block->now = forest_pages(block->cells * sizeof(word));
  block->next = forest_pages(block->cells * sizeof(word));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < block->cells; ++i) {
    block->now[i] = (word)number * 1000003 + i;
    block->next[i] = 0;
  }
}

static word refined(const struct block* block, size_t cell, size_t cells) {
  if (cells >= block->cells) return block->now[cell / (cells / block->cells)];
  const size_t children = block->cells / cells;
  word sum = 0;
  for (size_t i = 0; i < children; ++i) sum += block->now[cell * children + i];
  return sum;
}

static void make_anew(struct block* block, size_t cells, int threads) {
  word* now = forest_pages(cells * sizeof(word));
  word* next = forest_pages(cells * sizeof(word));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < cells; ++i) {
    now[i] = refined(block, i, cells);
    next[i] = 0;
  }
  forest_release(block->now, block->cells * sizeof(word));
  forest_release(block->next, block->cells * sizeof(word));
  block->now = now;
  block->next = next;
  block->cells = cells;
}

// The block has come from another team: each member of this one says what it will use from now on.
static void bring(struct block* block, int threads) {
  if (options[kPlan].value == kStay || !hints_answered()) return;
#pragma omp parallel num_threads(threads)
  {
    const struct forest_range part = forest_part(block->cells, omp_get_thread_num(), omp_get_num_threads());
    const size_t bytes = (part.end - part.begin) * sizeof(word);
    hearth_mem_next_touch(block->now + part.begin, bytes, HEARTH_TOUCH_ANNOUNCED);
    hearth_mem_next_touch(block->next + part.begin, bytes, HEARTH_TOUCH_ANNOUNCED);
    hearth_mem_attach(block->now + part.begin, bytes, HEARTH_THREAD, HEARTH_READ, 1);
    hearth_mem_attach(block->next + part.begin, bytes, HEARTH_THREAD, HEARTH_WRITE, 1);
  }
}

static void take_borders(int b) {
  const struct block* before = &blocks[(b + count - 1) % count];
  blocks[b].before = before->now[before->cells - 1];
  blocks[b].after = blocks[(b + 1) % count].now[0];
}

static void compute(struct block* block, int threads) {
  const size_t last = block->cells - 1;
  const word* now = block->now;
  word* next = block->next;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i <= last; ++i) {
    const word left = i == 0 ? block->before : now[i - 1];
    const word right = i == last ? block->after : now[i + 1];
    next[i] = left + 2 * now[i] + right;
  }
  block->now = next;
  block->next = (word*)now;
}

static void run_step(int step, int me, const int* team_of, int threads) {
  for (int b = 0; b < count; ++b) {
    if (team_of[b] != me) continue;
    if (blocks[b].cells != cells_of(b, step))
      make_anew(&blocks[b], cells_of(b, step), threads);
    else if (blocks[b].team != me)
      bring(&blocks[b], threads);
    blocks[b].team = me;
  }
#pragma omp barrier
  for (int b = 0; b < count; ++b) {
    if (team_of[b] == me) take_borders(b);
  }
#pragma omp barrier
  for (int b = 0; b < count; ++b) {
    if (team_of[b] == me) compute(&blocks[b], threads);
  }
#pragma omp barrier
}

static void fill_all(int teams, int threads) {
#pragma omp parallel num_threads(teams)
  {
    int team_of[kMostBlocks];
    cut(0, omp_get_num_threads(), team_of);
    for (int b = 0; b < count; ++b) {
      if (team_of[b] != omp_get_thread_num()) continue;
      blocks[b].team = team_of[b];
      fill(&blocks[b], b, threads);
    }
  }
}

static void run(int teams, int threads) {
#pragma omp parallel num_threads(teams)
  {
    int team_of[kMostBlocks];
    for (int step = 0; step < forest.passes; ++step) {
      cut(step, omp_get_num_threads(), team_of);
      run_step(step, omp_get_thread_num(), team_of, threads);
    }
  }
}

static word release(void) {
  word sum = 0;
  for (int b = 0; b < count; ++b) {
    for (size_t i = 0; i < blocks[b].cells; ++i) sum = sum * 31 + blocks[b].now[i];
    forest_release(blocks[b].now, blocks[b].cells * sizeof(word));
    forest_release(blocks[b].next, blocks[b].cells * sizeof(word));
  }
  return sum;
}

static void repeat(void) {
  static word wanted;
  static bool known;
  count = (int)options[kBlocks].value;
  size_t units = 0;
  base = 1;
  for (int b = 0; b < count; ++b) units += cells_of(b, 0);
  base = forest.bytes * (size_t)(forest.teams * forest.threads) / sizeof(word) / units / kPageWords * kPageWords;
  if (base == 0) base = kPageWords;
  if (!known) {  // by one thread
    fill_all(1, 1);
    run(1, 1);
    wanted = release();
    known = true;
  }
  fill_all(forest.teams, forest.threads);
  double bytes = 0;
  for (int b = 0; b < count; ++b) bytes += 2.0 * (double)(blocks[b].cells * sizeof(word)) * forest.passes;

  forest_begin();
  const double start = omp_get_wtime();
  run(forest.teams, forest.threads);
  const double seconds = omp_get_wtime() - start;
  forest_end();

  if (release() != wanted) forest_fail("wrong result");
  forest_time("mesh", bytes, seconds);
}

int main(int argc, char** argv) { return forest_main(argc, argv, &(struct forest_program){"amr", options, 2, repeat}); }
