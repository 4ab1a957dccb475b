// A node that runs out of memory, and a cgroup that does. Preferring a node is no promise: what does not fit
// goes elsewhere, and nobody is told, so an owner that was computed can be wrong. Binding to it under a
// cgroup's limit kills.
//
// numa-test topologies=8x1,holes
// numa-test name=cgroup topologies=8x1 memory=96M args=killed
#include <signal.h>
#include <sys/wait.h>

#include "pages.h"

enum { kMiB = 1 << 20 };

static void touch(char* start, size_t length) {
  for (size_t at = 0; at < length; at += kPage) start[at] = 1;
}

/// How many of the pages lie on the node.
static size_t pages_on(int node, char* start, size_t length) {
  enum { kBatch = 512 };
  void* pages[kBatch];
  int status[kBatch];
  size_t found = 0;
  for (size_t at = 0; at < length; at += (size_t)kBatch * kPage) {
    for (int i = 0; i < kBatch; ++i) pages[i] = start + at + (size_t)i * kPage;
    CHECK(syscall(SYS_move_pages, 0, (unsigned long)kBatch, pages, NULL, status, 0) == 0);
    for (int i = 0; i < kBatch; ++i) {
      CHECK(status[i] >= 0);
      found += status[i] == node;
    }
  }
  return found;
}

static size_t memory_of(int node) {
  char name[64];
  snprintf(name, sizeof name, "/sys/devices/system/node/node%d/meminfo", node);
  FILE* file = fopen(name, "r");
  CHECK(file != NULL);
  size_t kib = 0;
  CHECK(fscanf(file, "Node %*d MemTotal: %zu kB", &kib) == 1);
  fclose(file);
  return kib * 1024;
}

static void what_does_not_fit_goes_elsewhere(int node) {
  size_t length = (memory_of(node) / kMiB + 32) / 2 * 2 * kMiB;
  char* start = map_pages(length);
  CHECK(mbind_pages(start, length, kPreferred, 1ul << node, 0) == 0);
  touch(start, length);
  size_t there = pages_on(node, start, length);
  printf("exhausted: %zu of %zu pages are on node %d\n", there, length / kPage, node);
  CHECK(there >= length / kPage / 2);
  CHECK(there < length / kPage);
  munmap(start, length);
}

static void a_cgroup_without_room_kills(int node) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    size_t length = 160 * (size_t)kMiB;
    char* start = map_pages(length);
    bind_pages(start, length, 1ul << node);
    touch(start, length);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  size_t length = 32 * (size_t)kMiB;
  char* start = map_pages(length);
  bind_pages(start, length, 1ul << node);
  touch(start, length);
  CHECK(pages_on(node, start, length) == length / kPage);
}

int main(int argc, char** argv) {
  unsigned long allowed = allowed_nodes();
  int last = kMaxNode - 1 - __builtin_clzl(allowed);
  if (argc > 1 && strcmp(argv[1], "killed") == 0)
    a_cgroup_without_room_kills(last);
  else
    what_does_not_fit_goes_elsewhere(last);
  return 0;
}
