// HEARTH_DISTRIBUTE=learn, page by page: an allocation site's first block is left to first touch, and lies on the node of the
// thread that fills it; once tasks have worked on its parts, the site's next block has a part on each node. What another
// site's blocks are used like changes nothing.
//
// numa-test name=malloc topologies=8x1,4x4 compilers=clang,clang++ args=malloc HEARTH_DISTRIBUTE=learn LD_PRELOAD=libhearth-malloc.so OMP_PROC_BIND=true link=hearth
// numa-test name=omp-malloc compilers=clang args=omp_malloc HEARTH_DISTRIBUTE=learn LD_PRELOAD=libhearth-malloc.so OMP_PROC_BIND=true link=hearth
// numa-test name=omp-alloc compilers=clang args=omp_alloc HEARTH_DISTRIBUTE=learn LD_PRELOAD=libhearth-malloc.so OMP_PROC_BIND=true link=hearth
// numa-test name=work-stealing-names-nothing compilers=clang args=unknown HEARTH_DISTRIBUTE=learn HEARTH_POLICY=work-stealing LD_PRELOAD=libhearth-malloc.so OMP_PROC_BIND=true link=hearth
#include <omp.h>

#include "hearth/hearth.h"
#include "pages.h"

enum { kParts = 64, kPart = 16 * kPage, kBytes = kParts * kPart, kTimes = 3 };

static char* get(const char* how) {
  if (strcmp(how, "omp_malloc") == 0) return (char*)omp_malloc(kBytes);
  if (strcmp(how, "omp_alloc") == 0) return (char*)omp_alloc(kBytes, omp_default_mem_alloc);
  return (char*)malloc(kBytes);
}

static void release(const char* how, char* block) {
  if (strcmp(how, "omp_malloc") == 0) return omp_malloc_free(block);
  if (strcmp(how, "omp_alloc") == 0) return omp_free(block, omp_default_mem_alloc);
  free(block);
}

/// The nodes of the pages, in order, and how many there are. omp_alloc()'s blocks begin somewhere in a page.
static int nodes_of(char* block, int* in_order) {
  int nodes = 1, last = node_of(block + kPage);
  *in_order = 1;
  for (size_t at = 2 * kPage; at + kPage < kBytes; at += kPage) {
    int node = node_of(block + at);
    if (node < last) *in_order = 0;
    nodes += node != last;
    last = node;
  }
  return nodes;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "malloc";
  for (int round = 0; round < 3; ++round) {
    char* block = get(how);
    char* other = (char*)malloc(2 * kBytes);  // no task names it
    CHECK(block != NULL && other != NULL);
    memset(block, 0, kBytes);
    memset(other, 0, kBytes);
    int in_order = 0, nodes = nodes_of(block, &in_order);
    if (round == 0 || strcmp(how, "unknown") == 0)
      CHECK(nodes == 1);
    else
      CHECK(in_order && nodes == hearth_num_memory_locations());
    CHECK(nodes_of(other, &in_order) == 1);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < kTimes * kParts; ++i) {
      char* part = block + i % kParts * kPart;
#pragma omp task firstprivate(part) depend(inout : part[0 : kPart])
      for (int k = 0; k < kPart; ++k) ++part[k];
    }
    for (int k = 0; k < kBytes; ++k) CHECK(block[k] == kTimes);
    release(how, block);
    free(other);
  }
  return 0;
}
