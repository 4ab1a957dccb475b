// Four nested teams of one thread say that they will use the data of the next one: the threads go there, and no data moves.
// env: HEARTH_MACHINE=opteron-8347hex4
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

enum { kTeams = 4, kBytes = 4 << 20, kAt = 2, kRead = 1, kWrite = 2, kThread = 0, kNextTeam = 2, kWhenAll = 1, kPasses = 30 };

static void say_as_thread(char* data) {
#pragma omp parallel num_threads(1)
  {
    expect(hearth_mem_attach(data, kBytes / 2, kThread, kRead, kPasses) == 0, "attach");
    expect(hearth_affinity(data + kBytes / 2, kBytes / 2, kWrite, kWhenAll) == 0, "affinity");
  }
}

// Behind the barrier the thread is where the data is, whatever the other teams are going to say.
static void say_before_barrier(char* data) {
#pragma omp parallel num_threads(1)
  {
    expect(hearth_affinity(data, kBytes, kWrite, kWhenAll) == 0, "affinity");
#pragma omp barrier
    int home = -9;
    expect(hearth_mem_locate(data, kBytes, &home) == 0 && hearth_location() == home, "there behind the barrier");
  }
}

static void say_as_team(char* data) { expect(hearth_mem_attach(data, kBytes, kNextTeam, kWrite, kPasses) == 0, "attach"); }

static void twist(void (*say)(char*)) {
  int where[kTeams];
  char* data[kTeams];
#pragma omp parallel num_threads(kTeams)
  data[omp_get_thread_num()] = hearth_mem_alloc(kBytes, kAt, hearth_location());
#pragma omp parallel num_threads(kTeams)
  {
    const int team = omp_get_thread_num();
    say(data[(team + 1) % kTeams]);
#pragma omp barrier
    for (int pass = 0; pass < 3; pass++)
#pragma omp parallel num_threads(1)
      where[team] = hearth_location();
  }
  for (int team = 0; team < kTeams; team++) {
    char* used = data[(team + 1) % kTeams];
    int home = -9;
    expect(hearth_mem_locate(used, kBytes, &home) == 0, "locate");
    if (where[team] != home) {
      printf("team %d is at %d, its data at %d\n", team, where[team], home);
      ++failures;
    }
  }
  for (int team = 0; team < kTeams; team++) hearth_mem_free(data[team]);
}

int main(void) {
  if (!hearth_affinity) return 0;
  omp_set_max_active_levels(2);
  twist(say_as_thread);
  twist(say_as_team);
  twist(say_before_barrier);
  return failures != 0;
}
