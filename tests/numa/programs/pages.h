// What the programs of tests/numa share: a check that ends the program with what failed, and the kernel's
// calls on pages, made directly, so that no library stands between the test and the kernel. Not for use by
// several threads at a time.
#pragma once

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: failed: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
      _exit(1);                                                                                 \
    }                                                                                           \
  } while (0)

enum { kPage = 4096, kMaxNode = 64 };

// Of <linux/mempolicy.h>, which clashes with libnuma's header where both are used.
enum { kDefault = 0, kPreferred = 1, kBind = 2, kInterleave = 3 };
enum { kMpolNode = 1, kMpolAddress = 2, kMemsAllowed = 4 };
enum { kStrict = 1, kMove = 2 };

static inline long mbind_pages(void* start, size_t length, int mode, unsigned long nodes, unsigned flags) {
  return syscall(SYS_mbind, start, length, mode, &nodes, kMaxNode + 1ul, flags);
}

static inline long query_policy(int* mode, unsigned long* nodes, const void* address, unsigned long flags) {
  return syscall(SYS_get_mempolicy, mode, nodes, (unsigned long)kMaxNode, address, flags);
}

static inline long move_to_nodes(unsigned long count, void** pages, const int* nodes, int* status) {
  return syscall(SYS_move_pages, 0, count, pages, nodes, status, kMove);
}

/// Node of the page that holds the address; a negative errno for a page that is not there.
static inline int node_of(const void* address) {
  void* page = (void*)((unsigned long)address & ~(kPage - 1ul));
  int status = -EBADF;
  CHECK(syscall(SYS_move_pages, 0, 1ul, &page, NULL, &status, 0) == 0);
  return status;
}

/// Untouched pages of the normal size.
static inline void* map_pages(size_t length) {
  void* start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(start != MAP_FAILED);
  CHECK(madvise(start, length, MADV_NOHUGEPAGE) == 0);
  return start;
}

static inline void bind_pages(void* start, size_t length, unsigned long nodes) {
  CHECK(mbind_pages(start, length, kBind, nodes, 0) == 0);
}

/// Nodes whose memory this process may use.
static inline unsigned long allowed_nodes(void) {
  unsigned long nodes = 0;
  CHECK(query_policy(NULL, &nodes, NULL, kMemsAllowed) == 0);
  return nodes;
}

static inline void run_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}
