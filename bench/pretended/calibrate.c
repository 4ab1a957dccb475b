// What the pretended machine gives threads that sit where they are told: one reads or writes memory at home or
// elsewhere, and all threads of one or of all nodes read, or do triads, in the situations of table 1 of Broquedis et
// al. 2009. The simulator is asked the same.
//
//   calibrate [MB per thread]
//
// A line of JSON per case: MB/s, and the case in words that stream_times takes.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "pretend.h"

enum { kReads = 1, kWrites = 2, kTriad = 3 };

struct load {
  const char* name;
  int nodes, threads;  // of each node
  int kind;
  int homes[4];  // how far from the own node, by exclusive or; a block each in turn
  int home_count;
};

static const struct load kLoads[] = {
    {"1 thread reads at home", 1, 1, kReads, {0}, 1},
    {"1 thread reads from a neighbour", 1, 1, kReads, {1}, 1},
    {"1 thread reads from the opposite node", 1, 1, kReads, {3}, 1},
    {"1 thread writes at home", 1, 1, kWrites, {0}, 1},
    {"1 thread writes to a neighbour", 1, 1, kWrites, {1}, 1},
    {"1 thread writes to the opposite node", 1, 1, kWrites, {3}, 1},
    {"4 threads read, local", 1, 4, kReads, {0}, 1},
    {"4 threads read, local + neighbours", 1, 4, kReads, {0, 1, 2}, 3},
    {"16 threads read, local", 4, 4, kReads, {0}, 1},
    {"16 threads read, local + neighbours", 4, 4, kReads, {0, 1, 2}, 3},
    {"16 threads triad, local", 4, 4, kTriad, {0}, 1},
    {"16 threads triad, on a neighbour", 4, 4, kTriad, {1}, 1},
};

static void run(const struct load* load, size_t bytes) {
  const int threads = load->nodes * load->threads, vectors = load->kind == kTriad ? 3 : 1;
  double start = 0, seconds = 0;
#pragma omp parallel num_threads(threads)
  {
    const int node = omp_get_thread_num() / load->threads;
    int homes[4];
    for (int i = 0; i < load->home_count; ++i) homes[i] = node ^ load->homes[i];
    pretend_sit(node);
    char* memory[3];
    for (int v = 0; v < vectors; ++v) {
      memory[v] = pretend_pages(bytes);
      pretend_deal(memory[v], bytes, kBlock, homes, load->home_count);
    }
#pragma omp barrier
#pragma omp masked
    start = pretend_seconds();
    pretend_arrive();
    for (size_t at = 0; at < bytes; at += kBlock) {
      struct pretend_piece pieces[3];
      for (int v = 0; v < vectors; ++v)
        pieces[v] = (struct pretend_piece){memory[v] + at, kBlock, load->kind == kWrites || v == 2, false};
      pretend_use_all(pieces, vectors);
    }
#pragma omp barrier
#pragma omp masked
    seconds = pretend_seconds() - start;
    pretend_sit(-1);
  }
  printf("{\"row\":\"%s\",\"mbs\":%.1f,\"bytes\":%.0f,\"streams\":[", load->name,
         (double)bytes * vectors * threads / seconds / 1e6, (double)bytes * vectors * threads);
  for (int thread = 0; thread < threads; ++thread) {
    printf("%s[%d", thread > 0 ? "," : "", thread / load->threads);
    for (int v = 0; v < vectors; ++v) {
      double on[4] = {0};
      for (int i = 0; i < load->home_count; ++i)
        on[(thread / load->threads) ^ load->homes[i]] += 1.0 / load->home_count;
      printf(",[%zu,%d,%g,%g,%g,%g]", bytes, load->kind == kWrites || v == 2, on[0], on[1], on[2], on[3]);
    }
    printf("]");
  }
  printf("]}\n");
}

int main(int argc, char** argv) {
  pretend_open();
  if (pretend_nodes() != 4 || pretend_cores() != 16) {
    fprintf(stderr, "calibrate: the cases are for four nodes of four cores\n");
    return 2;
  }
  const size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 10) * 1000000 / kBlock / 3 * 3 * kBlock;
  for (size_t i = 0; i < sizeof kLoads / sizeof *kLoads; ++i) run(&kLoads[i], bytes);
  return 0;
}
