// Four nested teams of four whose threads the user has placed say that they will use the data of the next one: nobody leaves
// his place, and the memory comes.
// env: HEARTH_MACHINE=opteron-8347hex4 OMP_PLACES=cores OMP_PROC_BIND=spread,close
#include <omp.h>
#include <stddef.h>
#include <stdio.h>

#include "expect.h"

void* hearth_mem_alloc(size_t size, int policy, int location) __attribute__((weak));
void hearth_mem_free(void* block) __attribute__((weak));
int hearth_mem_locate(const void* address, size_t size, int* location) __attribute__((weak));
int hearth_mem_attach(void* address, size_t size, int who, int access, double passes) __attribute__((weak));
int hearth_mem_next_touch(void* address, size_t size, int how) __attribute__((weak));
int hearth_affinity(void* address, size_t size, int access, int when) __attribute__((weak));

enum { kTeams = 4, kThreads = 4, kPart = 1 << 20, kBytes = kThreads * kPart, kPasses = 100 };
enum { kAt = 2, kWrite = 2, kReadWrite = 3, kThread = 0, kNextTeam = 2, kNow = 0, kWhenAll = 1, kAnnounced = 0 };

static char* data[kTeams];
static int place_before[kTeams][kThreads];
static int home_of_place[kTeams * kThreads];  // on this machine four cores are a node

static void say_as_thread(char* mine, int i) {
  expect(hearth_mem_attach(mine + i * kPart, kPart, kThread, kReadWrite, kPasses) == 0, "attach");
  expect(hearth_affinity(mine + i * kPart, kPart, kWrite, kWhenAll) == 0, "affinity");
}

enum Way { kThreadsSay, kTeamSays, kAnnounce };

// What team t uses is the data of team (t + 1) % kTeams.
static void use_next(enum Way way) {
  for (int team = 0; team < kTeams; team++) data[team] = hearth_mem_alloc(kBytes, kAt, team);
#pragma omp parallel num_threads(kTeams)
  {
    const int team = omp_get_thread_num();
    char* mine = data[(team + 1) % kTeams];
    if (way == kTeamSays) expect(hearth_mem_attach(mine, kBytes, kNextTeam, kWrite, kPasses) == 0, "attach to the next team");
    if (way == kAnnounce) expect(hearth_mem_next_touch(mine, kBytes, kAnnounced) == 0, "announce");
#pragma omp barrier
#pragma omp parallel num_threads(kThreads)
    if (way == kThreadsSay) say_as_thread(mine, omp_get_thread_num());
    for (int pass = 0; pass < 8; pass++)
#pragma omp parallel num_threads(kThreads)
    {
      const int i = omp_get_thread_num();
      if (omp_get_place_num() != place_before[team][i]) {
        printf("thread %d of team %d is at place %d, was at %d\n", i, team, omp_get_place_num(), place_before[team][i]);
#pragma omp atomic
        ++failures;
      }
    }
  }
  for (int team = 0; team < kTeams; team++)
    for (int i = 0; i < kThreads; i++) {
      int home = -9;
      expect(hearth_mem_locate(data[(team + 1) % kTeams] + i * kPart, kPart, &home) == 0, "locate");
      if (home == home_of_place[place_before[team][i]]) continue;
      printf("way %d: what thread %d of team %d uses is at %d, not at %d\n", way, i, team, home,
             home_of_place[place_before[team][i]]);
      ++failures;
    }
  for (int team = 0; team < kTeams; team++) hearth_mem_free(data[team]);
}

int main(void) {
  if (!hearth_affinity) return 0;
  omp_set_max_active_levels(2);
  for (int i = 0; i < kTeams * kThreads; i++) home_of_place[i] = i / kThreads;
#pragma omp parallel num_threads(kTeams)
  {
    const int team = omp_get_thread_num();
#pragma omp parallel num_threads(kThreads)
    place_before[team][omp_get_thread_num()] = omp_get_place_num();
  }
  use_next(kThreadsSay);
  use_next(kTeamSays);
  use_next(kAnnounce);
  return failures != 0;
}
