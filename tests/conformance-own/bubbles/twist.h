// Nested teams that say that they will use the data of the next one; then the threads have to be there, and no data has moved.
#pragma once

#include <omp.h>
#include <stddef.h>
#include <stdio.h>

#include "expect.h"

void* hearth_mem_alloc(size_t size, int policy, int location) __attribute__((weak));
void hearth_mem_free(void* block) __attribute__((weak));
int hearth_mem_locate(const void* address, size_t size, int* location) __attribute__((weak));
int hearth_mem_attach(void* address, size_t size, int who, int access, double passes) __attribute__((weak));
int hearth_affinity(void* address, size_t size, int access, int when) __attribute__((weak));
int hearth_location(void) __attribute__((weak));

enum { kTeams = 4, kMostThreads = 4, kBytes = 4 << 20, kAt = 2, kRead = 1, kWrite = 2, kThread = 0, kNextTeam = 2, kWhenAll = 1, kPasses = 30 };
static int threads;  // of each nested team

static void say_as_thread(char* data) {
#pragma omp parallel num_threads(threads)
  {
    const size_t part = (size_t)(kBytes / threads);
    char* mine = data + (size_t)omp_get_thread_num() * part;
    expect(hearth_mem_attach(mine, part / 2, kThread, kRead, kPasses) == 0, "attach");
    expect(hearth_affinity(mine + part / 2, part / 2, kWrite, kWhenAll) == 0, "affinity");
  }
}

static void say_as_team(char* data) { expect(hearth_mem_attach(data, kBytes, kNextTeam, kWrite, kPasses) == 0, "attach"); }

static void twist(void (*say)(char*)) {
  int first[kTeams][kMostThreads], where[kTeams][kMostThreads];  // in the first pass, and in the last
  char* data[kTeams];
#pragma omp parallel num_threads(kTeams)
  {
    const int team = omp_get_thread_num();
    int here = -1;
#pragma omp parallel num_threads(threads)
#pragma omp masked
    here = hearth_location();
    data[team] = hearth_mem_alloc(kBytes, kAt, here);
  }
#pragma omp parallel num_threads(kTeams)
  {
    const int team = omp_get_thread_num();
    say(data[(team + 1) % kTeams]);
#pragma omp barrier
#pragma omp parallel num_threads(threads)
    first[team][omp_get_thread_num()] = hearth_location();
    for (int pass = 1; pass < 3; pass++)
#pragma omp parallel num_threads(threads)
      where[team][omp_get_thread_num()] = hearth_location();
  }
  for (int team = 0; team < kTeams; team++) {
    char* used = data[(team + 1) % kTeams];
    int home = -9;
    expect(hearth_mem_locate(used, kBytes, &home) == 0, "locate");
    for (int i = 0; i < threads; i++)
      if (first[team][i] != home || where[team][i] != home) {
        printf("team %d, thread %d was at %d, is at %d, its data at %d\n", team, i, first[team][i], where[team][i], home);
        ++failures;
      }
  }
  for (int team = 0; team < kTeams; team++) hearth_mem_free(data[team]);
}
