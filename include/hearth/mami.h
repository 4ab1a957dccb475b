/* The names of MaMI, the memory manager of ForestGOMP, for programs that were written for it: each is one call of
 * memory.h, which has the contract. Optional: hearth.h does not include it.
 *
 * A manager is an empty word here, since a process has one; a node is a location. Owners are HEARTH_THREAD, HEARTH_TEAM
 * or HEARTH_NEXT_TEAM, because threads of OpenMP have no handle. Memory is always aligned to pages. All calls return 0,
 * or -1 with errno; sizes are bytes, costs microseconds, as MaMI's migration costs were.
 *
 * Source: as memory.h; names as in the paper's table 2 and in the library of its authors.
 */
#ifndef HEARTH_MAMI_H
#define HEARTH_MAMI_H

#include <stdint.h>

#include "hearth.h"

typedef struct mami_manager {
  int unused;
} mami_manager_t;

typedef enum {
  MAMI_MEMBIND_POLICY_DEFAULT = HEARTH_MEM_DEFAULT,
  MAMI_MEMBIND_POLICY_NONE = HEARTH_MEM_HERE,
  MAMI_MEMBIND_POLICY_SPECIFIC_NODE = HEARTH_MEM_AT,
  MAMI_MEMBIND_POLICY_LEAST_LOADED_NODE = HEARTH_MEM_LEAST_LOADED,
  MAMI_MEMBIND_POLICY_HUGE_PAGES = HEARTH_MEM_HUGE + HEARTH_MEM_AT,
  MAMI_MEMBIND_POLICY_FIRST_TOUCH = HEARTH_MEM_FIRST_TOUCH
} mami_membind_policy_t;

typedef enum { MAMI_STAT_MEMORY_TOTAL = HEARTH_MEM_TOTAL, MAMI_STAT_MEMORY_FREE = HEARTH_MEM_FREE_BYTES } mami_stats_t;

typedef enum { MAMI_LEAST_LOADED_NODE = HEARTH_MOST_FREE } mami_node_selection_t;

enum { MAMI_MULTIPLE_LOCATION_NODE = HEARTH_SEVERAL, MAMI_UNKNOWN_LOCATION_NODE = HEARTH_NOWHERE };
/* What mami_locate() says of memory that nobody has touched: the number of nodes. */
#define MAMI_FIRST_TOUCH_NODE (hearth_num_locations())

/* Nothing is to be prepared or ended: the manager lives as long as the process. */
static inline void mami_init(mami_manager_t** manager, int argc, char** argv) {
  static mami_manager_t only;
  (void)argc;
  (void)argv;
  *manager = &only;
}
static inline void mami_exit(mami_manager_t** manager) { *manager = 0; }

/* hearth_mem_alloc(). */
static inline void* mami_malloc(mami_manager_t* manager, size_t size, mami_membind_policy_t policy, int node) {
  (void)manager;
  return hearth_mem_alloc(size, (int)policy, node);
}
/* The same for count elements; memory of the manager is zeroed in any case. */
static inline void* mami_calloc(mami_manager_t* manager, size_t count, size_t size, mami_membind_policy_t policy, int node) {
  (void)manager;
  return size != 0 && count > SIZE_MAX / size ? 0 : hearth_mem_alloc(count * size, (int)policy, node);
}
/* hearth_mem_free(). */
static inline void mami_free(mami_manager_t* manager, void* buffer) {
  (void)manager;
  hearth_mem_free(buffer);
}
/* hearth_mem_set_default(). */
static inline int mami_membind(mami_manager_t* manager, mami_membind_policy_t policy, int node) {
  (void)manager;
  return hearth_mem_set_default((int)policy, node);
}
/* hearth_mem_register(). */
static inline int mami_register(mami_manager_t* manager, void* buffer, size_t size) {
  (void)manager;
  return hearth_mem_register(buffer, size);
}
/* hearth_mem_unregister(). */
static inline int mami_unregister(mami_manager_t* manager, void* buffer) {
  (void)manager;
  return hearth_mem_unregister(buffer);
}
/* hearth_mem_split(). */
static inline int mami_split(mami_manager_t* manager, void* buffer, unsigned int parts, void** buffers) {
  (void)manager;
  return hearth_mem_split(buffer, (int)parts, buffers);
}
/* hearth_mem_locate(), with MaMI's numbers. */
static inline int mami_locate(mami_manager_t* manager, void* buffer, size_t size, int* node) {
  (void)manager;
  if (hearth_mem_locate(buffer, size, node) != 0) return -1;
  if (*node == HEARTH_UNTOUCHED) *node = MAMI_FIRST_TOUCH_NODE;
  return 0;
}
/* 0: all of it is at the node. */
static inline int mami_check_pages_location(mami_manager_t* manager, void* buffer, size_t size, int node) {
  int found;
  return mami_locate(manager, buffer, size, &found) == 0 && found == node ? 0 : -1;
}
/* Nothing: mami_locate() asks the kernel each time. */
static inline int mami_update_pages_location(mami_manager_t* manager, void* buffer, size_t size) {
  int found;
  return mami_locate(manager, buffer, size, &found);
}
/* hearth_mem_migrate() of the area. */
static inline int mami_migrate_on_node(mami_manager_t* manager, void* buffer, int node) {
  (void)manager;
  return hearth_mem_migrate(buffer, 0, node);
}
/* hearth_mem_next_touch() of the area, announced. */
static inline int mami_migrate_on_next_touch(mami_manager_t* manager, void* buffer) {
  (void)manager;
  return hearth_mem_next_touch(buffer, 0, HEARTH_TOUCH_ANNOUNCED);
}
/* hearth_mem_attach_on_touch() of the area. */
static inline int mami_attach_on_next_touch(mami_manager_t* manager, void* buffer) {
  (void)manager;
  return hearth_mem_attach_on_touch(buffer, 0);
}
/* hearth_mem_distribute(). */
static inline int mami_distribute(mami_manager_t* manager, void* buffer, int* nodes, int count) {
  (void)manager;
  return hearth_mem_distribute(buffer, nodes, count);
}
/* hearth_mem_attach(): read and written, as often as nobody knows. */
static inline int mami_attach(mami_manager_t* manager, void* buffer, size_t size, int owner) {
  (void)manager;
  return hearth_mem_attach(buffer, size, owner, HEARTH_READ_WRITE, 1);
}
/* hearth_mem_detach(). */
static inline int mami_unattach(mami_manager_t* manager, void* buffer, int owner) {
  (void)manager;
  return hearth_mem_detach(buffer, owner);
}
/* hearth_mem_follow(). */
static inline int mami_migrate_all(mami_manager_t* manager, int owner) {
  (void)manager;
  return hearth_mem_follow(owner);
}
/* hearth_mem_stats(). */
static inline int mami_stats(mami_manager_t* manager, int node, mami_stats_t what, unsigned long* value) {
  size_t bytes;
  (void)manager;
  if (hearth_mem_stats(node, (int)what, &bytes) != 0) return -1;
  *value = bytes;
  return 0;
}
/* hearth_mem_select(): MaMI's least loaded node is the one with the most free memory. */
static inline int mami_select_node(mami_manager_t* manager, mami_node_selection_t how, int* node) {
  (void)manager;
  return hearth_mem_select((int)how, node);
}
/* hearth_cost_read(), in microseconds. */
static inline int mami_cost_for_read_access(mami_manager_t* manager, int source, int dest, size_t size, float* cost) {
  const double ns = hearth_cost_read(source, dest, size);
  (void)manager;
  *cost = (float)(ns / 1000);
  return ns < 0 ? -1 : 0;
}
/* hearth_cost_write(), in microseconds. */
static inline int mami_cost_for_write_access(mami_manager_t* manager, int source, int dest, size_t size, float* cost) {
  const double ns = hearth_cost_write(source, dest, size);
  (void)manager;
  *cost = (float)(ns / 1000);
  return ns < 0 ? -1 : 0;
}
/* hearth_cost_migrate(), in microseconds. */
static inline int mami_migration_cost(mami_manager_t* manager, int source, int dest, size_t size, float* cost) {
  const double ns = hearth_cost_migrate(source, dest, size);
  (void)manager;
  *cost = (float)(ns / 1000);
  return ns < 0 ? -1 : 0;
}

#endif
