// What the programs of tests/numa that check Hearth's distributions share, in C and in C++: the homes of this
// machine, and checks of blocks page by page. The kernel is asked about every page; what Hearth says of a
// block, and of one page of it, has to agree. Not for use by several threads at a time.
#pragma once

#include <hearth/hearth.h>
#include <malloc.h>

#include "pages.h"

enum { kMostNodes = 64, kMappedByMalloc = 1 << 20 };

static int nodes[kMostNodes];  // kernel numbers, in the order of locations that hold memory
static int homes[kMostNodes];  // their location numbers; where a node has several caches that are locations, the first one's
static int count;
static int divided;  // some node has several: a page whose cache nobody has said belongs to any of them

static inline void list_nodes(void) {
  CHECK(mallopt(M_MMAP_THRESHOLD, kMappedByMalloc) == 1);  // and does not change with use
  const int locations = hearth_num_memory_locations();
  CHECK(locations > 0 && locations <= hearth_num_locations());
  unsigned long allowed = allowed_nodes();
  for (int i = 0; i < locations; ++i) {
    const int home = hearth_memory_location(i), node = hearth_location_node(home);
    CHECK(node >= 0 && (allowed >> node & 1));
    if (count > 0 && node == nodes[count - 1]) continue;
    CHECK(count < kMostNodes && (count == 0 || node > nodes[count - 1]));
    homes[count] = home;
    nodes[count++] = node;
  }
  CHECK(count == __builtin_popcountl(allowed));
  divided = locations != count;
  CHECK(hearth_memory_location(locations) == -1 && hearth_location_node(-1) == -1);
}

static inline int index_of_node(int node) {
  for (int i = 0; i < count; ++i)
    if (nodes[i] == node) return i;
  fprintf(stderr, "page on node %d, which is no home\n", node);
  _exit(1);
}

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t pages_of(size_t size) { return (size + kPage - 1) / kPage; }

/// Touches the pages of a block and asks the kernel for each. The result has the index of each page's node;
/// it is freed by the caller.
static inline int* ask(char* block, size_t size) {
  enum { kAtOnce = 1024 };
  void* pages[kAtOnce];
  int status[kAtOnce];
  const size_t total = pages_of(size);
  int* where = (int*)malloc(total * sizeof *where);
  CHECK(where != NULL && block != NULL);
  // A block of less than a page may lie anywhere in one; its last byte lies in the last page.
  char* const first = (char*)((unsigned long)block & ~(kPage - 1ul));
  CHECK(first == block || size < kPage);
  for (size_t p = 0; p < total; ++p) block[p * kPage] = 1;
  for (size_t p = 0; p < total; ++p) {
    if (p % kAtOnce == 0) {
      size_t batch = smaller(total - p, kAtOnce);
      for (size_t i = 0; i < batch; ++i) pages[i] = first + (p + i) * kPage;
      CHECK(move_to_nodes(batch, pages, NULL, status) == 0);
    }
    where[p] = index_of_node(status[p % kAtOnce]);
  }
  return where;
}

/// ... and holds what Hearth says against it.
static inline int* look(char* block, size_t size) {
  int* where = ask(block, size);
  size_t sums[kMostNodes] = {0}, told[kMostNodes];
  const size_t total = pages_of(size);
  for (size_t p = 0; p < total; ++p) {
    size_t end = smaller((p + 1) * kPage, size);
    sums[homes[where[p]]] += end - p * kPage;
  }
  CHECK(hearth_bytes_by_location(block, size, told, kMostNodes) == 0);
  for (int i = 0; i < kMostNodes; ++i) CHECK(sums[i] == told[i]);
  size_t some = total / 3;
  CHECK(hearth_owner(block + some * kPage) == homes[where[some]]);
  return where;
}

static inline void check_in_turns(char* block, size_t size) {
  int* where = look(block, size);
  for (size_t p = 1; p < pages_of(size); ++p) CHECK(where[p] == (where[p - 1] + 1) % count);
  free(where);
}

static inline void check_whole_at(char* block, size_t size, int index) {
  int* where = look(block, size);
  for (size_t p = 0; p < pages_of(size); ++p) CHECK(where[p] == index);
  free(where);
}

/// Parts in order; they differ by one page at most, or a huge page where parts are large.
static inline void check_blocked(char* block, size_t size) {
  size_t pages = pages_of(size), part[kMostNodes] = {0}, least = pages, most = 0;
  int* where = look(block, size);
  for (size_t p = 0; p < pages; ++p) {
    CHECK(p == 0 || where[p] >= where[p - 1]);
    ++part[where[p]];
  }
  for (int i = 0; i < count; ++i) {
    if (part[i] < least) least = part[i];
    if (part[i] > most) most = part[i];
  }
  // In huge pages the last part may also end early, with the block.
  CHECK(most - least <= (pages / (size_t)count >= 8 * 512 ? 2 * 512 : 1));
  free(where);
}

/// Memory that was left to first touch, by this thread: on its own node, where that has memory. Small blocks
/// lie in pages that others may have touched before; large ones are mapped for themselves, but for their
/// edges.
static inline void check_first_touch(char* block, size_t size) {
  unsigned cpu = 0, node = 0;
  CHECK(getcpu(&cpu, &node) == 0);
  if (size < kMappedByMalloc || !(allowed_nodes() >> node & 1)) return;
  char* inside = (char*)(((unsigned long)block + kPage - 1) & ~(kPage - 1ul));
  size_t length = size - 2 * kPage;
  int* where = ask(inside, length);
  for (size_t p = 0; p < pages_of(length); ++p) CHECK(nodes[where[p]] == (int)node);
  free(where);
}

static inline int mappings(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  int lines = 0;
  for (int c; (c = getc(maps)) != EOF;) lines += c == '\n';
  fclose(maps);
  return lines;
}

/// A distribution of the program's own: `*data` blocks in a row at each location.
static inline int block_cyclic(size_t block, size_t blocks, int locations, void* data) {
  CHECK(locations == count && block < blocks);
  return (int)(block / *(const size_t*)data % (size_t)locations);
}
