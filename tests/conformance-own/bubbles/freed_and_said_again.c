// Memory is freed, and another block comes to the same addresses: who says that it uses these says something new. So does who
// has detached it.
// env: HEARTH_MACHINE=opteron-8347hex4
#include <errno.h>
#include <omp.h>
#include <stddef.h>
#include <stdio.h>

#include "expect.h"

void* hearth_mem_alloc(size_t size, int policy, int location) __attribute__((weak));
void hearth_mem_free(void* block) __attribute__((weak));
int hearth_mem_detach(void* address, int who) __attribute__((weak));
int hearth_affinity(void* address, size_t size, int access, int when) __attribute__((weak));

enum { kBytes = 4 << 20, kAt = 2, kWrite = 2, kThread = 0, kNextTeam = 2, kWhenAll = 1 };

static void* known[64];
static int count;

// A block that comes to an address that one of the blocks before it had, or null.
static void* block_again(void) {
  while (count < 64) {
    void* block = hearth_mem_alloc(kBytes, kAt, count % 4);
    expect(block != NULL, "alloc");
    int seen = 0;
    for (int i = 0; i < count; ++i) seen |= known[i] == block;
    known[count++] = block;
    if (seen) return block;
    hearth_mem_free(block);
  }
  return NULL;
}

// Outside of regions: for the next team. The same call sees the block, or its successor.
static void say_and_free(void) {
  void* block = hearth_mem_alloc(kBytes, kAt, 1);
  expect(hearth_affinity(block, kBytes, kWrite, kWhenAll) == 0, "affinity");
  known[count++] = block;
  // Now what is said is compared with what was said before this region.
#pragma omp parallel
  expect(block != NULL, "a region");
  hearth_mem_free(block);
  void* next = block_again();
  expect(next != NULL, "no address comes again");
  if (next == NULL) return;
  expect(hearth_affinity(next, kBytes, kWrite, kWhenAll) == 0, "affinity again");
  expect(hearth_mem_detach(next, kNextTeam) == 0, "what is said again is attached again");
  expect(hearth_affinity(next, kBytes, kWrite, kWhenAll) == 0, "affinity after detaching");
  expect(hearth_mem_detach(next, kNextTeam) == 0, "what is said after detaching is attached");
  expect(hearth_mem_detach(next, kNextTeam) == -1 && errno == ENOENT, "and detached once");
  hearth_mem_free(next);
}

// Inside: each for itself, all at once.
static void say_inside(void) {
#pragma omp parallel
  for (int i = 0; i < 20; ++i) {
    void* block = hearth_mem_alloc(kBytes / 16, kAt, i % 4);
    expect(hearth_affinity(block, kBytes / 16, kWrite, kWhenAll) == 0, "affinity in a region");
    if (i % 2 == 0) expect(hearth_mem_detach(block, kThread) == 0, "attached in a region");
    hearth_mem_free(block);
  }
}

int main(void) {
  if (!hearth_affinity) return 0;
  say_and_free();
  if (omp_get_max_threads() > 1) say_inside();
  return failures != 0;
}
