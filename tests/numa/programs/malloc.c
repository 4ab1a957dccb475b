// hearth run --distribute, page by page: the plain malloc of a program that knows nothing of Hearth gives
// blocks whose pages the kernel has put where the distribution says, and leaves small ones to first touch. The same of
// anonymous memory that it maps itself.
// What is preloaded is what hearth run preloads.
//
// numa-test name=fine topologies=8x1,4x4,2x2x2,holes compilers=gcc,clang args=fine HEARTH_DISTRIBUTE=fine LD_PRELOAD=libhearth-malloc.so
// numa-test name=coarse topologies=8x1,4x4,2x2x2,holes compilers=gcc,clang args=coarse HEARTH_DISTRIBUTE=coarse LD_PRELOAD=libhearth-malloc.so
// numa-test name=blocked topologies=8x1,4x4,2x2x2,holes compilers=gcc,clang args=blocked HEARTH_DISTRIBUTE=blocked LD_PRELOAD=libhearth-malloc.so
// numa-test name=weighted topologies=8x1,2x2x2,holes compilers=gcc args=weighted HEARTH_DISTRIBUTE=weighted LD_PRELOAD=libhearth-malloc.so
// numa-test name=fine-huge-pages huge-pages=always args=fine HEARTH_DISTRIBUTE=fine LD_PRELOAD=libhearth-malloc.so
// numa-test name=coarse-huge-pages huge-pages=always args=coarse HEARTH_DISTRIBUTE=coarse LD_PRELOAD=libhearth-malloc.so
// numa-test name=blocked-huge-pages huge-pages=always args=blocked HEARTH_DISTRIBUTE=blocked LD_PRELOAD=libhearth-malloc.so
// numa-test name=not-asked-for args=standard LD_PRELOAD=libhearth-malloc.so
// numa-test name=refused refuse=mbind,set_mempolicy args=refused HEARTH_DISTRIBUTE=fine LD_PRELOAD=libhearth-malloc.so
#include <malloc.h>
#include <omp.h>

#include "pages.h"

enum { kMostNodes = 64 };

static int nodes[kMostNodes];
static int count;

static int index_of_node(int node) {
  for (int i = 0; i < count; ++i)
    if (nodes[i] == node) return i;
  fprintf(stderr, "page on node %d, which is no home\n", node);
  _exit(1);
}

/// Touches every page by this one thread, which would put all of them on its own node, and holds each against
/// the definition. Returns the index of the first page's node.
static int check(char* block, size_t size, const char* kind) {
  size_t pages = size / kPage, part[kMostNodes] = {0}, least = pages, most = 0;
  CHECK(block != NULL);
  memset(block, 1, size);
  int first = index_of_node(node_of(block)), last = first;
  for (size_t p = 0; p < pages; ++p) {
    int here = index_of_node(node_of(block + p * kPage));
    if (strcmp(kind, "fine") == 0) CHECK(here == (first + (int)p) % count);
    if (strcmp(kind, "coarse") == 0 || strcmp(kind, "local") == 0) CHECK(here == first);
    if (strcmp(kind, "blocked") == 0) CHECK(here >= last);
    if (strcmp(kind, "weighted") == 0 && here != last) CHECK(here == (last + 1) % count);  // round robin of longer pieces
    ++part[last = here];
  }
  for (int i = 0; i < count; ++i) {
    if (part[i] < least) least = part[i];
    if (part[i] > most) most = part[i];
  }
  if (strcmp(kind, "weighted") == 0)
    CHECK(least > 0 && most - least <= pages / (size_t)count / 2);
  else if (strcmp(kind, "coarse") != 0 && strcmp(kind, "local") != 0)
    CHECK(most - least <= 1);
  return first;
}

static int is_here(int index) {
  unsigned cpu = 0, node = 0;
  CHECK(getcpu(&cpu, &node) == 0);
  return nodes[index] == (int)node;
}

/// What is meant for data is distributed; what is not stays where it is touched.
static void check_mappings(const char* kind, size_t size) {
  const int data = MAP_PRIVATE | MAP_ANONYMOUS;
  for (int round = 0; round < 3; ++round) {
    char* block = mmap(NULL, size, PROT_READ | PROT_WRITE, round == 2 ? data | MAP_POPULATE : data, -1, 0);
    CHECK(block != MAP_FAILED);
    if (round == 2) CHECK(block[size - 1] == 0);
    check(block, size, kind);
    // A hole, filled with something else: the rest stays as it is.
    CHECK(munmap(block + size / 2, size / 4) == 0);
    CHECK(mmap(block + size / 2, size / 4, PROT_READ | PROT_WRITE, data | MAP_FIXED, -1, 0) == block + size / 2);
    CHECK(is_here(check(block + size / 2, size / 4, "local")));
    CHECK(block[0] == 1 && block[size - 1] == 1);
    CHECK(munmap(block, size) == 0);
  }
  const int others[] = {MAP_NORESERVE, MAP_STACK, MAP_GROWSDOWN};
  for (int i = 0; i < 3; ++i) {
    char* block = mmap(NULL, size, PROT_READ | PROT_WRITE, data | others[i], -1, 0);
    CHECK(block != MAP_FAILED && is_here(check(block, size, "local")));
    munmap(block, size);
  }
  char* reserved = mmap(NULL, size, PROT_NONE, data, -1, 0);
  CHECK(reserved != MAP_FAILED && mprotect(reserved, size, PROT_READ | PROT_WRITE) == 0);
  CHECK(is_here(check(reserved, size, "local")));
  munmap(reserved, size);
  char* small = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, data, -1, 0);
  CHECK(small != MAP_FAILED && is_here(check(small, 64 << 10, "local")));
  munmap(small, 64 << 10);
  errno = 0;
  CHECK(mmap(NULL, 0, PROT_READ | PROT_WRITE, data, -1, 0) == MAP_FAILED && errno == EINVAL);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  const size_t size = 8 << 20;
  unsigned long allowed = allowed_nodes();
  int threads = 0;
  for (int node = 0; node < kMostNodes; ++node)
    if (allowed >> node & 1) nodes[count++] = node;
  run_on(0);
#pragma omp parallel reduction(+ : threads)
  threads++;
  CHECK(threads >= 1 && count > 1);

  if (strcmp(kind, "standard") == 0 || strcmp(kind, "refused") == 0) {
    // All of it where it was touched.
    char* block = malloc(size);
    CHECK(is_here(check(block, size, "local")));
    free(block);
    printf("malloc %s: left to first touch\n", kind);
    return 0;
  }

  int before = -1;
  for (int round = 0; round < 2 * count; ++round) {
    char* block = malloc(size);
    int first = check(block, size, kind);
    if (strcmp(kind, "coarse") == 0 && before >= 0) CHECK(first == (before + 1) % count);
    before = first;
    free(block);
  }
  check_mappings(kind, size);
  char* zeroed = calloc(size / 8, 8);
  for (size_t i = 0; i < size; ++i) CHECK(zeroed[i] == 0);
  check(zeroed, size, kind);
  char* aligned = aligned_alloc(1 << 16, 1 << 20);
  CHECK((unsigned long)aligned % (1 << 16) == 0);
  check(aligned, 1 << 20, kind);
  // Over the threshold and back.
  const size_t small = 120 << 10;
  char* grown = malloc(small);
  CHECK(is_here(check(grown + kPage, small - kPage, "local")));  // the first page may be somebody else's too
  grown = realloc(grown, size);
  check(grown, size, kind);
  grown = realloc(grown, small);
  CHECK(grown != NULL && grown[small - 1] == 1);
  free(zeroed);
  free(aligned);
  free(grown);
  printf("malloc %s: %d nodes, all as expected\n", kind, count);
  return 0;
}
