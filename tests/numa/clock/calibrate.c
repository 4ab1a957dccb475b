// How long memory takes: lines one after the other, read and written, for each pair of nodes; and streams of one thread,
// of one node's threads, and of all, to memory at home, on the next node, and spread over all. For the laboratory that
// tells time (lab/clock.py).
//
//   calibrate latency LINES | calibrate stream KIB_PER_THREAD
//
// Plain threads, bound one to a core, that wait by sleeping. A line of JSON per figure: nanoseconds per line, or MB/s
// as STREAM counts them, by the clock of the machine it runs on.
#include <numaif.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "region.h"

enum { kLine = 64, kMost = 64, kMostNodes = 16 };

static int nodes, cores;  // cores of each node

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void bind(int node, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)(node * cores + core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

// Pages on one node; on all of them in turn if it is -1.
static void* pages_on(int node, size_t bytes) {
  void* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) fail("mmap");
  unsigned long mask = node < 0 ? (1ul << nodes) - 1 : 1ul << node;
  if (mbind(pages, bytes, node < 0 ? MPOL_INTERLEAVE : MPOL_BIND, &mask, 8 * sizeof mask, 0) != 0) fail("mbind");
  memset(pages, 1, bytes);
  return pages;
}

// All lines in an order of which no two neighbours follow each other: a power of two of them, by an odd stride.
static size_t scattered(size_t i, size_t lines) { return i * 0x9e3779b1u & (lines - 1); }

static void latency(size_t lines) {
  for (int node = 0; node < nodes; ++node) {
    bind(node, 0);
    for (int home = 0; home < nodes; ++home) {
      char* memory = pages_on(home, lines * kLine);
      for (size_t i = 0; i < lines; ++i)
        *(char**)(memory + scattered(i, lines) * kLine) = memory + scattered(i + 1, lines) * kLine;
      NUMA_REGION_BEGIN();
      double start = now_ns();
      char* at = memory;
      for (size_t i = 0; i < lines; ++i) at = *(char**)at;
      double read = (now_ns() - start) / (double)lines;
      __asm__ volatile("" ::"r"(at));
      NUMA_REGION_END();
      NUMA_REGION_BEGIN();
      start = now_ns();
      for (size_t i = 0; i < lines; ++i) *(volatile char*)(memory + scattered(i, lines) * kLine) = 1;
      double written = (now_ns() - start) / (double)lines;
      NUMA_REGION_END();
      printf("{\"node\":%d,\"home\":%d,\"read_ns\":%.1f,\"write_ns\":%.1f}\n", node, home, read, written);
      munmap(memory, lines * kLine);
    }
  }
}

static struct {
  size_t words;
  int passes;
  bool reads_only;
  pthread_barrier_t barrier;
} stream;
struct part {
  int node, core;
  uint64_t *a, *b, *c;
  uint64_t sum;
};

static void* run(void* argument) {
  struct part* part = argument;
  bind(part->node, part->core);
  uint64_t sum = 0;
  pthread_barrier_wait(&stream.barrier);
  pthread_barrier_wait(&stream.barrier);  // the region has begun
  for (int pass = 0; pass < stream.passes; ++pass) {
    if (stream.reads_only) {
      for (size_t i = 0; i < stream.words; ++i) sum += part->a[i] + part->b[i] + part->c[i];
    } else {
      for (size_t i = 0; i < stream.words; ++i) part->a[i] = part->b[i] + 3 * part->c[i];
    }
  }
  pthread_barrier_wait(&stream.barrier);
  part->sum = sum;
  return NULL;
}

// `away`: the memory is on the node so far on; -1: on all in turn.
static void streams(int on_nodes, int per_node, int away, bool reads_only, size_t bytes) {
  struct part parts[kMost];
  pthread_t threads[kMost];
  int count = on_nodes * per_node;
  stream.words = bytes / sizeof(uint64_t);
  stream.passes = 2;
  stream.reads_only = reads_only;
  pthread_barrier_init(&stream.barrier, NULL, (unsigned)count + 1);
  for (int i = 0; i < count; ++i) {
    int node = i / per_node, home = away < 0 ? -1 : (node + away) % nodes;
    parts[i] = (struct part){node, i % per_node, pages_on(home, bytes), pages_on(home, bytes), pages_on(home, bytes),
                             0};
    if (pthread_create(&threads[i], NULL, run, &parts[i]) != 0) fail("pthread_create");
  }
  pthread_barrier_wait(&stream.barrier);
  NUMA_REGION_BEGIN();
  double start = now_ns();
  pthread_barrier_wait(&stream.barrier);
  pthread_barrier_wait(&stream.barrier);
  double ns = now_ns() - start;
  NUMA_REGION_END();
  for (int i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
    munmap(parts[i].a, bytes), munmap(parts[i].b, bytes), munmap(parts[i].c, bytes);
  }
  pthread_barrier_destroy(&stream.barrier);
  printf("{\"nodes\":%d,\"per_node\":%d,\"away\":%d,\"reads_only\":%s,\"mbs\":%.3f,\"ms\":%.2f}\n", on_nodes, per_node,
         away, reads_only ? "true" : "false", 3e3 * (double)bytes * stream.passes * count / ns, ns / 1e6);
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  nodes = atoi(argv[3]), cores = atoi(argv[4]);
  size_t size = strtoul(argv[2], NULL, 10);
  if (nodes < 1 || nodes > kMostNodes || nodes * cores > kMost) return 2;
  if (strcmp(argv[1], "latency") == 0) {
    latency(size);
    return 0;
  }
  for (int reads_only = 0; reads_only < 2; ++reads_only) {
    streams(1, 1, 0, reads_only, size * 1024);
    streams(1, 1, 1, reads_only, size * 1024);
    streams(1, cores, 0, reads_only, size * 1024);
    streams(1, cores, -1, reads_only, size * 1024);
    streams(nodes, cores, 0, reads_only, size * 1024);
    streams(nodes, cores, 1, reads_only, size * 1024);
    streams(nodes, cores, -1, reads_only, size * 1024);
  }
  return 0;
}
