/* The calls of <hearth/hearth.h> as a C and as a C++ program sees them, on a pretended machine of eight
 * nodes; the global distribution is the first argument. What the kernel does about them is tests/numa's
 * business. */
#include <hearth/hearth.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kNodes = 8, kPage = 4096 };

#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) {                                             \
      printf("%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                      \
    }                                                               \
  } while (0)

/* How many nodes the pages of a block are on; -1 when somebody does not know. */
static int nodes_of(const void* block, size_t size) {
  size_t bytes[kNodes];
  int used = 0;
  if (hearth_bytes_by_location(block, size, bytes, kNodes) != 0) return -1;
  for (int i = 0; i < kNodes; ++i) used += bytes[i] != 0;
  return used;
}

static int only_one(size_t block, size_t blocks, int locations, void* data) {
  (void)data;
  CHECK(block == 0 && blocks == 1 && locations == kNodes);
  return 0;
}

static int pairs(size_t block, size_t blocks, int locations, void* data) {
  CHECK(blocks == 40 && data != NULL);
  return (int)(block / 2 % (size_t)locations);
}

static void check_global(const char* distribution) {
  const size_t size = 8 * kPage;
  const int wanted = strcmp(distribution, "fine") == 0     ? kNodes
                     : strcmp(distribution, "coarse") == 0 ? 1
                                                           : -1;
  char *a = (char*)omp_malloc(size), *b = (char*)omp_malloc_calloc(size, 1);
  char* c = (char*)omp_malloc_aligned(1 << 15, size);
  CHECK(nodes_of(a, size) == wanted && nodes_of(b, size) == wanted && nodes_of(c, size) == wanted);
  CHECK((uintptr_t)c % (1 << 15) == 0);
  if (wanted == 1)
    CHECK(hearth_owner(b) == (hearth_owner(a) + 1) % kNodes &&
          hearth_owner(c) == (hearth_owner(b) + 1) % kNodes);
  memset(a, 7, size);
  for (size_t i = 0; i < size; ++i) CHECK(b[i] == 0);
  a = (char*)omp_malloc_realloc(a, 20 * size);
  CHECK(a != NULL && nodes_of(a, 20 * size) == wanted);
  for (size_t i = 0; i < size; ++i) CHECK(a[i] == 7);
  omp_malloc_free(a);
  omp_malloc_free(b);
  omp_malloc_free(c);
  CHECK((a = (char*)omp_malloc_realloc(NULL, size)) != NULL);
  CHECK(omp_malloc_realloc(a, 0) == NULL);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  CHECK(hearth_num_locations() == kNodes && hearth_num_memory_locations() == kNodes);
  CHECK(hearth_memory_location(7) == 7 && hearth_memory_location(8) == -1 && hearth_location_node(3) == 3);
  check_global(argv[1]);

  char* fine = (char*)omp_malloc_specific(64 * kPage, OMP_MALLOC_FINE);
  CHECK(nodes_of(fine, 64 * kPage) == kNodes && nodes_of(fine + 5, 1) == 1);
  for (int i = 1; i < 64; ++i) CHECK(hearth_owner(fine + i * kPage) == (hearth_owner(fine) + i) % kNodes);
  omp_malloc_free(fine);
  char* blocked = (char*)omp_malloc_aligned_specific(kPage, 64 * kPage, OMP_MALLOC_BLOCKED);
  for (int i = 0; i < 64; ++i) CHECK(hearth_owner(blocked + i * kPage) == i / 8);
  omp_malloc_free(blocked);
  int data = 0;
  char* own = (char*)hearth_malloc_distributed(40 * 2 * kPage, 2 * kPage, pairs, &data);
  for (int i = 0; i < 40; ++i) CHECK(hearth_owner(own + i * 2 * kPage) == i / 2 % kNodes);
  omp_malloc_free(own);
  // Parts longer than the block: there is one, the first, whatever their length.
  for (size_t part = SIZE_MAX; part > SIZE_MAX - 2 * kPage; part -= kPage / 4) {
    own = (char*)hearth_malloc_distributed(1 << 20, part, only_one, &data);
    CHECK(own != NULL && hearth_owner(own) == 0 && hearth_owner(own + (1 << 20) - 1) == 0);
    omp_malloc_free(own);
  }
  const unsigned weights[] = {1, 3};
  char* weighted = (char*)hearth_malloc_weighted(16 * kPage, weights, 2);
  CHECK(nodes_of(weighted, 16 * kPage) == 2 && hearth_owner(weighted) == 0 &&
        hearth_owner(weighted + kPage) == 1);
  omp_malloc_free(weighted);

  CHECK(omp_malloc(0) == NULL && omp_malloc_aligned(24, 100) == NULL &&
        omp_malloc_specific(SIZE_MAX, OMP_MALLOC_FINE) == NULL);
  CHECK(omp_malloc_calloc_specific(SIZE_MAX / 2, 3, OMP_MALLOC_FINE) == NULL);
  CHECK(omp_malloc_specific(100, (omp_malloc_distribution_t)77) == NULL);
  CHECK(hearth_malloc_distributed(100, kPage, NULL, NULL) == NULL);
  omp_malloc_free(NULL);
  omp_malloc_free(omp_malloc_specific(100, OMP_MALLOC_STANDARD));
  CHECK(hearth_owner(&argc) == -1);
  printf("right\n");
  return 0;
}
