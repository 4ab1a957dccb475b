// Teams that say how often they go through their memory; one of them does so more often than the others after a while.
#pragma once

#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "expect.h"

void* hearth_mem_alloc(size_t size, int policy, int location) __attribute__((weak));
int hearth_mem_locate(const void* address, size_t size, int* location) __attribute__((weak));
int hearth_mem_attach(void* address, size_t size, int who, int access, double passes) __attribute__((weak));
int hearth_location(void) __attribute__((weak));

enum { kTeams = 8, kThreads = 2, kBytes = 64 << 10, kAt = 2, kReadWrite = 3, kNextTeam = 2, kPasses = 40000, kSteps = 12, kGrows = 6 };

static char* data_of[kTeams];
static int at[kTeams][kThreads];

// Looks at balance are some time apart.
static void rest(void) {
  const struct timespec pause = {0, 12 * 1000 * 1000};
  nanosleep(&pause, NULL);
}

static void step(int number) {
#pragma omp parallel num_threads(kTeams)
  {
    const int team = omp_get_thread_num();
    const int passes = team == 0 && number >= kGrows ? 14 * kPasses / 4 : kPasses;
    expect(hearth_mem_attach(data_of[team], kBytes, kNextTeam, kReadWrite, passes) == 0, "attach");
#pragma omp parallel num_threads(kThreads)
    at[team][omp_get_thread_num()] = hearth_location();
  }
  rest();
}

// How many teams are elsewhere in the end. Each is at one node, with its memory.
static int run_until_groups_move(void) {
  int first[kTeams];
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(kTeams)
#pragma omp parallel num_threads(kThreads)
  at[omp_get_ancestor_thread_num(1)][omp_get_thread_num()] = hearth_location();
  for (int team = 0; team < kTeams; team++) {
    first[team] = at[team][0];
    data_of[team] = hearth_mem_alloc(kBytes, kAt, first[team]);
  }
  int moved = 0;
  for (int number = 0; number < kSteps; number++) {
    step(number);
    if (number >= kGrows) continue;
    for (int team = 0; team < kTeams; team++) expect(at[team][0] == first[team], "all are alike, and nobody moves");
  }
  for (int team = 0; team < kTeams; team++) {
    int home = -9;
    expect(hearth_mem_locate(data_of[team], kBytes, &home) == 0, "locate");
    expect(at[team][0] == at[team][1], "a team is together");
    if (home != at[team][0]) printf("team %d is at %d, its data at %d\n", team, at[team][0], home), ++failures;
    moved += at[team][0] != first[team];
  }
  return moved;
}
