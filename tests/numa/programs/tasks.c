// An OpenMP program that goes on, with the right result, whatever the machine and the container take away:
// tasks that rewrite first-touched blocks in dependent rounds. Built by both compilers, it runs on Hearth.
//
// numa-test compilers=gcc,clang OMP_PROC_BIND=true OMP_PLACES=cores
// numa-test name=calls-refused topologies=8x1 compilers=gcc,clang refuse=mbind,move_pages,set_mempolicy,get_mempolicy
// numa-test name=binding-refused topologies=8x1 refuse=mbind,move_pages,sched_setaffinity OMP_PROC_BIND=true
// numa-test name=cpuset topologies=4x4 compilers=gcc,clang cpus=6-9 nodes=3 OMP_PROC_BIND=true args=4
// numa-test name=last-level-caches topologies=llcs compilers=gcc,clang HEARTH_LOCATION=llc OMP_PROC_BIND=true
// numa-test name=home-caches topologies=llcs compilers=gcc,clang HEARTH_LOCATION=llc HEARTH_POLICY=home-cache HEARTH_VICINITY=1 OMP_PROC_BIND=true
// numa-test name=balancing topologies=8x1 balancing=on huge-pages=always
#include <dlfcn.h>
#include <omp.h>

#include "pages.h"

enum { kBlocks = 64, kWords = 16 * kPage / sizeof(long), kRounds = 3 };

static long* blocks[kBlocks];

int main(int argc, char** argv) {
  Dl_info library = {0};
  void* entry = dlsym(RTLD_DEFAULT, "omp_get_thread_num");
  CHECK(entry != NULL && dladdr(entry, &library) != 0);
  CHECK(strstr(library.dli_fname, "/hearth/") != NULL);
  if (argc > 1) CHECK(omp_get_max_threads() == atoi(argv[1]));

  for (int b = 0; b < kBlocks; ++b) CHECK((blocks[b] = malloc(kWords * sizeof(long))) != NULL);
#pragma omp parallel for schedule(static)
  for (int b = 0; b < kBlocks; ++b) {
    for (int word = 0; word < kWords; ++word) blocks[b][word] = b;
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kBlocks * kRounds; ++i) {
    int b = i * 7 % kBlocks;
    long* block = blocks[b];
#pragma omp task firstprivate(block, b) depend(inout : block[0 : kWords])
    for (int word = 0; word < kWords; ++word) block[word] = block[word] * 2 + b;
  }
  for (int b = 0; b < kBlocks; ++b) {
    long expected = b;
    for (int round = 0; round < kRounds; ++round) expected = expected * 2 + b;
    for (int word = 0; word < kWords; ++word) CHECK(blocks[b][word] == expected);
    free(blocks[b]);
  }
  printf("tasks: %d threads\n", omp_get_max_threads());
  return 0;
}
