// Table 1 of Broquedis et al. (IWOMP 2009): four threads that fill a node have their memory spread over its neighbours, sixteen
// have it near.
// env: HEARTH_MACHINE=opteron-8347hex4 OMP_PLACES=cores OMP_PROC_BIND=close
#include <omp.h>
#include <stddef.h>
#include <stdio.h>

#include "expect.h"

void* hearth_mem_alloc(size_t size, int policy, int location) __attribute__((weak));
void hearth_mem_free(void* block) __attribute__((weak));
int hearth_mem_attach(void* address, size_t size, int who, int access, double passes) __attribute__((weak));
int hearth_location(void) __attribute__((weak));
int hearth_owner(const void* address) __attribute__((weak));

enum { kNodes = 4, kByLoad = 5, kBytes = 12 << 20, kThread = 0, kRead = 1 };

// The bits of the nodes over which the block is spread, page by page in turn. Each page is asked for: of a large block all at once
// would be a sample.
static void expect_at(const char* block, unsigned nodes, const char* what) {
  enum { kPage = 4096 };
  int found[kNodes] = {0};
  for (size_t at = 0; at < kBytes; at += kPage) {
    const int node = hearth_owner(block + at);
    if (node >= 0 && node < kNodes) ++found[node];
  }
  const int each = kBytes / kPage / __builtin_popcount(nodes);
  for (int i = 0; i < kNodes; i++) {
    if (found[i] == ((nodes >> i & 1) ? each : 0)) continue;
    printf("%s: node %d has %d pages\n", what, i, found[i]);
    ++failures;
  }
}

static char* made_by_last_of(int threads, int attach, int* where) {
  char* block = NULL;
#pragma omp parallel num_threads(threads)
  {
    char* own = attach ? hearth_mem_alloc(1 << 20, kByLoad, 0) : NULL;
    if (own != NULL) expect(hearth_mem_attach(own, 1 << 20, kThread, kRead, 1) == 0, "attach");
#pragma omp barrier
    if (omp_get_thread_num() == threads - 1) {
      *where = hearth_location();
      block = hearth_mem_alloc(kBytes, kByLoad, 0);
    }
#pragma omp barrier
    hearth_mem_free(own);
  }
  return block;
}

int main(void) {
  if (!hearth_mem_alloc) return 0;
  // The links of this machine make a square: 0 - 1, 0 - 2, 1 - 3, 2 - 3.
  enum { kNode0 = 1, kNearNode0 = 1 | 2 | 4, kNode3 = 8 };
  for (int attach = 0; attach < 2; attach++) {
    int where = -1;
    char* few = made_by_last_of(4, attach, &where);
    expect(where == 0, "four threads are at node 0");
    expect_at(few, kNearNode0, "four threads");
    hearth_mem_free(few);
    char* many = made_by_last_of(16, attach, &where);
    expect(where == 3, "the last of sixteen is at node 3");
    expect_at(many, kNode3, "sixteen threads");
    hearth_mem_free(many);
    char* half = made_by_last_of(2, attach, &where);
    expect_at(half, kNode0, "two threads, which do not fill their node");
    hearth_mem_free(half);
  }
  return failures != 0;
}
