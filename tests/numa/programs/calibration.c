// Proves that the instrument knows where memory is: one thread, bound to one CPU, writes the lines of as many
// pages per node as its place in the list. The driver knows how many misses each node must show.
//
// Usage: calibration CPU PASSES NODE...    (PASSES x 64 lines x (place of the node in the list + 1) pages)
#include "pages.h"
#include "region.h"

int main(int argc, char** argv) {
  CHECK(argc >= 4);
  run_on(atoi(argv[1]));
  int nodes = argc - 3;
  volatile char* pages[64];
  for (int i = 0; i < nodes; ++i) {
    size_t length = (size_t)(i + 1) * kPage;
    pages[i] = map_pages(length);
    bind_pages((void*)pages[i], length, 1ul << atoi(argv[3 + i]));
    memset((void*)pages[i], 1, length);
    for (size_t at = 0; at < length; at += kPage) CHECK(node_of((char*)pages[i] + at) == atoi(argv[3 + i]));
  }
  NUMA_REGION_BEGIN();
  for (int pass = 0; pass < atoi(argv[2]); ++pass) {
    for (int i = 0; i < nodes; ++i) {
      for (size_t at = 0; at < (size_t)(i + 1) * kPage; at += 64) pages[i][at] += 1;
    }
  }
  NUMA_REGION_END();
  puts("calibration: done");
  return 0;
}
