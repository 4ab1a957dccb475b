/* The calls of <hearth/memory.h> and the old names of <hearth/mami.h> as a C and as a C++ program sees them, on a
 * pretended machine of eight nodes, where what moves is noted. What the kernel does about them is tests/numa's business. */
#include <errno.h>
#include <hearth/hearth.h>
#include <hearth/mami.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kNodes = 8, kPage = 4096 };

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      printf("%s:%d: wrong: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)
#define FAILS(error, call) CHECK((errno = 0, (call) == -1 && errno == (error)))

static int where(const void* begin, size_t size) {
  int location = 77;
  CHECK(hearth_mem_locate(begin, size, &location) == 0);
  return location;
}

static char* map(size_t size) {
  char* begin = (char*)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(begin != MAP_FAILED);
  return begin;
}

static size_t in_areas(int location) {
  size_t bytes = 77;
  CHECK(hearth_mem_stats(location, HEARTH_MEM_AREAS, &bytes) == 0);
  return bytes;
}

static void check_blocks(void) {
  const size_t size = 10 * kPage + 100;
  char* at = (char*)hearth_mem_alloc(size, HEARTH_MEM_AT, 5);
  CHECK(at != NULL && (uintptr_t)at % kPage == 0 && where(at, size) == 5 && in_areas(5) == 11 * kPage);
  for (size_t i = 0; i < size; ++i) CHECK(at[i] == 0);
  char* spread = (char*)hearth_mem_alloc(kPage, HEARTH_MEM_LEAST_LOADED, -1);
  CHECK(spread != NULL && where(spread, kPage) >= 0 && where(spread, kPage) != 5);
  char* touched = (char*)hearth_mem_alloc(size, HEARTH_MEM_FIRST_TOUCH, 0);
  CHECK(touched != NULL && where(touched, size) == HEARTH_UNTOUCHED);
  char* huge = (char*)hearth_mem_alloc((size_t)4 << 20, HEARTH_MEM_AT + HEARTH_MEM_HUGE, 2);
  CHECK(huge != NULL && where(huge, (size_t)4 << 20) == 2);
  CHECK(hearth_mem_set_default(HEARTH_MEM_AT, 6) == 0);
  char* by_default = (char*)hearth_mem_alloc(kPage, HEARTH_MEM_DEFAULT, 0);
  CHECK(by_default != NULL && where(by_default, kPage) == 6);
  char* by_load = (char*)hearth_mem_alloc(kPage, HEARTH_MEM_BY_LOAD + HEARTH_MEM_HUGE, -1);
  CHECK(by_load != NULL && by_load[0] == 0);
  hearth_mem_free(by_load);
  FAILS(EINVAL, hearth_mem_set_default(HEARTH_MEM_BY_LOAD, 0));
  FAILS(EINVAL, hearth_mem_set_default(HEARTH_MEM_AT, kNodes));
  FAILS(EINVAL, hearth_mem_set_default(HEARTH_MEM_DEFAULT, 0));
  CHECK(hearth_mem_set_default(HEARTH_MEM_FIRST_TOUCH, 0) == 0);
  CHECK((errno = 0, hearth_mem_alloc(0, HEARTH_MEM_AT, 0) == NULL && errno == EINVAL));
  CHECK((errno = 0, hearth_mem_alloc(kPage, 9, 0) == NULL && errno == EINVAL));
  CHECK((errno = 0, hearth_mem_alloc(kPage, HEARTH_MEM_AT, -1) == NULL && errno == EINVAL));
  CHECK((errno = 0, hearth_mem_alloc((size_t)1 << 60, HEARTH_MEM_AT, 0) == NULL && errno == ENOMEM));
  FAILS(EINVAL, hearth_mem_unregister(at));
  FAILS(EINVAL, hearth_mem_register(at + kPage, 2 * kPage));
  void* parts[3];
  CHECK(hearth_mem_split(at, 3, parts) == 0 && parts[0] == at && parts[1] == at + 3 * kPage);
  CHECK(hearth_mem_migrate(parts[1], 0, 1) == 0 && where(parts[1], 4 * kPage) == 1);
  CHECK(where(at, 3 * kPage) == 5 && where(at, size) == HEARTH_SEVERAL);
  CHECK(in_areas(1) == 4 * kPage && in_areas(5) == 7 * kPage);
  hearth_mem_free(at);
  hearth_mem_free(spread);
  hearth_mem_free(touched);
  hearth_mem_free(huge);
  hearth_mem_free(by_default);
  hearth_mem_free(NULL);
  for (int i = 0; i < kNodes; ++i) CHECK(in_areas(i) == 0);
}

static void check_areas(void) {
  char* memory = map(20 * kPage);
  FAILS(EINVAL, hearth_mem_register(memory + 1, kPage));
  FAILS(EINVAL, hearth_mem_register(memory, 0));
  CHECK(hearth_mem_register(memory + 1, 10 * kPage) == 0);  // nine whole pages
  FAILS(EALREADY, hearth_mem_register(memory + kPage, 9 * kPage));
  FAILS(EINVAL, hearth_mem_unregister(memory));
  FAILS(EINVAL, hearth_mem_migrate(memory, 0, 3));
  CHECK(hearth_mem_migrate(memory + kPage, 0, 3) == 0 && where(memory + kPage, 9 * kPage) == 3 && in_areas(3) == 9 * kPage);
  FAILS(EALREADY, hearth_mem_migrate(memory + 5 * kPage, 3 * kPage, 3));
  FAILS(EINVAL, hearth_mem_migrate(memory, kPage, kNodes));
  FAILS(EINVAL, hearth_mem_migrate(memory, 100, 0));
  FAILS(EINVAL, hearth_mem_split(memory, 2, NULL));
  FAILS(EINVAL, hearth_mem_split(memory + kPage, 10, NULL));
  FAILS(EINVAL, hearth_mem_split(memory + kPage, 0, NULL));
  CHECK(hearth_mem_register(memory + 8 * kPage, 4 * kPage) == 0);  // freed and taken anew, say
  CHECK(hearth_mem_migrate(memory + 8 * kPage, 0, 4) == 0 && where(memory + 7 * kPage, kPage) == 3);
  CHECK(in_areas(3) == 7 * kPage && in_areas(4) == 4 * kPage);
  const int turns[] = {7, 0, 2};
  CHECK(hearth_mem_distribute(memory + 8 * kPage, turns, 3) == 0);
  for (int i = 0; i < 4; ++i) CHECK(where(memory + (8 + i) * kPage, kPage) == turns[i % 3]);
  FAILS(EALREADY, hearth_mem_distribute(memory + 8 * kPage, turns, 3));
  FAILS(EINVAL, hearth_mem_distribute(memory + 8 * kPage, turns, 0));
  FAILS(EINVAL, hearth_mem_distribute(memory + 8 * kPage, NULL, 1));
  FAILS(EINVAL, hearth_mem_distribute(memory + 15 * kPage, turns, 3));
  CHECK(hearth_mem_unregister(memory + 9 * kPage) == 0 && hearth_mem_unregister(memory + 3 * kPage) == 0);
  FAILS(EINVAL, hearth_mem_unregister(memory + 3 * kPage));
  void* small = omp_malloc_specific(kPage, OMP_MALLOC_NEAREST);
  FAILS(EINVAL, hearth_mem_register(small, kPage));
  FAILS(EINVAL, hearth_mem_migrate(small, kPage, 0));
  omp_malloc_free(small);
  void* large = omp_malloc_specific(1000 * kPage, OMP_MALLOC_FINE);
  CHECK(where(large, 1000 * kPage) == HEARTH_SEVERAL && hearth_mem_migrate(large, 1000 * kPage, 6) == 0);
  CHECK(where(large, 1000 * kPage) == 6);
  omp_malloc_free(large);
  munmap(memory, 20 * kPage);
}

static void check_next_touch(void) {
  char* memory = map(8 * kPage);
  memset(memory, 3, 8 * kPage);
  FAILS(EINVAL, hearth_mem_next_touch(memory, 100, HEARTH_TOUCH_ANNOUNCED));
  FAILS(EINVAL, hearth_mem_next_touch(memory, 8 * kPage, 5));
  for (int how = HEARTH_TOUCH_ANNOUNCED; how <= HEARTH_TOUCH_TRAP; ++how) {
    CHECK(hearth_mem_next_touch(memory, 8 * kPage, how) == 0);
    for (int i = 0; i < 8 * kPage; ++i) CHECK(memory[i] == 3);
  }
  FAILS(EALREADY, hearth_mem_register(memory, 8 * kPage));
  CHECK(hearth_mem_next_touch(memory + kPage, 0, HEARTH_TOUCH_ANNOUNCED) == 0);
  CHECK(hearth_mem_unregister(memory) == 0);
  FAILS(EINVAL, hearth_mem_next_touch(memory, 0, HEARTH_TOUCH_ANNOUNCED));
  munmap(memory, 8 * kPage);
}

static void check_numbers(void) {
  size_t bytes = 0;
  int location = -1;
  for (int i = 0; i < kNodes; ++i) {
    CHECK(hearth_mem_stats(i, HEARTH_MEM_TOTAL, &bytes) == 0);
    CHECK(hearth_mem_stats(i, HEARTH_MEM_FREE_BYTES, &bytes) == 0);
  }
  FAILS(EINVAL, hearth_mem_stats(kNodes, HEARTH_MEM_TOTAL, &bytes));
  FAILS(EINVAL, hearth_mem_stats(0, 3, &bytes));
  FAILS(EINVAL, hearth_mem_stats(0, HEARTH_MEM_TOTAL, NULL));
  for (int choice = HEARTH_MOST_FREE; choice <= HEARTH_NEAREST; ++choice)
    CHECK(hearth_mem_select(choice, &location) == 0 && location >= 0 && location < kNodes);
  FAILS(EINVAL, hearth_mem_select(3, &location));
  FAILS(EINVAL, hearth_mem_select(0, NULL));
  CHECK(hearth_cost_read(0, 0, 1 << 20) > 0 && hearth_cost_read(0, 0, 1 << 20) < hearth_cost_read(0, 7, 1 << 20));
  CHECK(hearth_cost_read(0, 1, 1 << 20) < hearth_cost_write(0, 1, 1 << 20));
  CHECK(hearth_cost_migrate(0, 0, 1 << 20) == 0 && hearth_cost_migrate(0, 1, 1 << 20) > hearth_cost_migrate(0, 1, 1 << 16));
  FAILS(EINVAL, hearth_cost_read(0, kNodes, 1));
  FAILS(EINVAL, hearth_cost_write(-1, 0, 1));
  FAILS(EINVAL, hearth_cost_migrate(0, 99, 1));
}

static void check_old_names(void) {
  mami_manager_t* manager = NULL;
  mami_init(&manager, 0, NULL);
  CHECK(manager != NULL && mami_membind(manager, MAMI_MEMBIND_POLICY_SPECIFIC_NODE, 2) == 0);
  void* block = mami_malloc(manager, 6 * kPage, MAMI_MEMBIND_POLICY_DEFAULT, 0);
  int node = -1;
  CHECK(mami_locate(manager, block, 6 * kPage, &node) == 0 && node == 2);
  CHECK(mami_migrate_on_node(manager, block, 4) == 0 && mami_check_pages_location(manager, block, 6 * kPage, 4) == 0);
  CHECK(mami_check_pages_location(manager, block, 6 * kPage, 2) == -1);
  FAILS(EALREADY, mami_migrate_on_node(manager, block, 4));
  void* parts[2];
  int nodes[] = {1, 3};
  CHECK(mami_split(manager, block, 2, parts) == 0 && mami_distribute(manager, parts[1], nodes, 2) == 0);
  CHECK(mami_locate(manager, parts[1], 3 * kPage, &node) == 0 && node == MAMI_MULTIPLE_LOCATION_NODE);
  CHECK(mami_migrate_on_next_touch(manager, block) == 0);
  mami_free(manager, block);
  block = mami_calloc(manager, 3, kPage, MAMI_MEMBIND_POLICY_FIRST_TOUCH, 0);
  CHECK(mami_locate(manager, block, 3 * kPage, &node) == 0 && node == MAMI_FIRST_TOUCH_NODE);
  mami_free(manager, block);
  CHECK(mami_calloc(manager, SIZE_MAX, 2, MAMI_MEMBIND_POLICY_NONE, 0) == NULL);
  char* own = map(2 * kPage);
  CHECK(mami_register(manager, own, 2 * kPage) == 0 && mami_update_pages_location(manager, own, 2 * kPage) == 0);
  CHECK(mami_unregister(manager, own) == 0);
  unsigned long value = 0;
  CHECK(mami_stats(manager, 0, MAMI_STAT_MEMORY_TOTAL, &value) == 0 && mami_stats(manager, 9, MAMI_STAT_MEMORY_FREE, &value) == -1);
  CHECK(mami_select_node(manager, MAMI_LEAST_LOADED_NODE, &node) == 0);
  float read = 0, write = 0, move = 0;
  CHECK(mami_cost_for_read_access(manager, 0, 3, 1 << 20, &read) == 0 && mami_cost_for_write_access(manager, 0, 3, 1 << 20, &write) == 0);
  CHECK(mami_migration_cost(manager, 0, 3, 1 << 20, &move) == 0 && read > 0 && write > read && move > 0);
  CHECK(mami_membind(manager, MAMI_MEMBIND_POLICY_FIRST_TOUCH, 0) == 0);
  munmap(own, 2 * kPage);
  mami_exit(&manager);
  CHECK(manager == NULL);
}

int main(void) {
  CHECK(hearth_num_locations() == kNodes);
  check_blocks();
  check_areas();
  check_next_touch();
  check_numbers();
  check_old_names();
  printf("right\n");
  return 0;
}
