#include "places.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 4096, kBatch = 512, kMpolInterleave = 3 };

static struct {
  int nodes;
  int distance[kPlacesMostNodes][kPlacesMostNodes];
} known;

static void read_row(int node) {
  char path[80];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d/distance", node);
  FILE* file = fopen(path, "r");
  if (file == NULL) return;
  for (int to = 0; to < kPlacesMostNodes && fscanf(file, "%d", &known.distance[node][to]) == 1; ++to) {
  }
  fclose(file);
  known.nodes = node + 1;
}

int places_nodes(void) {
  if (known.nodes == 0) {
    known.nodes = 1;
    known.distance[0][0] = 10;
    for (int node = 0; node < kPlacesMostNodes; ++node) read_row(node);
  }
  return known.nodes;
}

int places_distance(int from, int to) {
  places_nodes();
  return known.distance[from][to];
}

int place_of_thread(void) {
  unsigned cpu = 0, node = 0;
  return syscall(SYS_getcpu, &cpu, &node, NULL) == 0 ? (int)node : 0;
}

void places_of_range(const void* begin, size_t bytes, double amount, double* at) {
  const uintptr_t first = (uintptr_t)begin;
  const uintptr_t end = first + bytes;
  void* pages[kBatch];
  int homes[kBatch];
  for (uintptr_t page = first & ~(uintptr_t)(kPage - 1); page < end;) {
    unsigned long count = 0;
    const uintptr_t batch = page;
    for (; count < kBatch && page < end; page += kPage) pages[count++] = (void*)page;
    if (syscall(SYS_move_pages, 0, count, pages, NULL, homes, 0) != 0) return;
    for (unsigned long i = 0; i < count; ++i) {
      const uintptr_t from = batch + i * kPage;
      const uintptr_t low = from > first ? from : first;
      const uintptr_t high = from + kPage < end ? from + kPage : end;
      if (homes[i] >= 0 && homes[i] < kPlacesMostNodes)
        at[homes[i]] += amount * (double)(high - low) / (double)bytes;
    }
  }
}

int places_interleave(void) {
  const int nodes = places_nodes();
  unsigned long mask = nodes == kPlacesMostNodes ? ~0ul : (1ul << nodes) - 1;
  return syscall(SYS_set_mempolicy, kMpolInterleave, &mask, sizeof mask * 8 + 1) == 0;
}
