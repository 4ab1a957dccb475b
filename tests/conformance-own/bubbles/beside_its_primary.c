// A nested team runs at the location of the thread that forks it, as long as that has a CPU for each; threads without a
// location of their own are spread evenly; seats stay the same from region to region.
// env: HEARTH_MACHINE=opteron-8347hex4
// flags: -pthread
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

int hearth_location(void) __attribute__((weak));

enum { kLocations = 4, kCores = 4, kRepeats = 20 };

static void nested_teams_are_beside_their_primary(void) {
  int where[kLocations][kCores], first[kLocations][kCores];
  for (int repeat = 0; repeat < kRepeats; repeat++) {
#pragma omp parallel num_threads(kLocations)
    {
      const int team = omp_get_thread_num();
#pragma omp parallel num_threads(kCores)
      where[team][omp_get_thread_num()] = hearth_location();
    }
    int seen[kLocations] = {0};
    for (int team = 0; team < kLocations; team++) {
      for (int i = 0; i < kCores; i++) {
        expect(where[team][i] == where[team][0], "a nested team is at one location");
        if (repeat == 0) first[team][i] = where[team][i];
        expect(where[team][i] == first[team][i], "seats stay");
      }
      seen[where[team][0] % kLocations]++;
    }
    for (int i = 0; i < kLocations; i++) expect(seen[i] == 1, "one nested team at each location");
  }
}

static void a_full_team_has_a_cpu_for_each_thread(void) {
  int count[kLocations] = {0};
#pragma omp parallel num_threads(kLocations * kCores)
  {
    const int where = hearth_location();
    expect(where >= 0 && where < kLocations, "there is such a location");
#pragma omp atomic
    ++count[where];
  }
  for (int i = 0; i < kLocations; i++) expect(count[i] == kCores, "as many threads as CPUs at each location");
}

static void a_team_that_outgrows_its_location_uses_the_others(void) {
  int count[kLocations] = {0};
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(8)
  {
#pragma omp atomic
    ++count[hearth_location()];
  }
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(8)
  {
#pragma omp atomic
    ++count[hearth_location()];
  }
  for (int i = 0; i < kLocations; i++) expect(count[i] >= kCores, "no location is idle");
}

static void more_threads_than_cpus_run(void) {
  int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  {
    int inner = 0;
#pragma omp parallel num_threads(6) reduction(+ : inner)
    inner += 1;
    sum += inner;
  }
  expect(sum == 24, "24 threads on 16 CPUs");
}

static void sizes_change(void) {
  for (int size = 1; size <= 16; size++) {
    int sum = 0;
#pragma omp parallel num_threads(1 + (size * 7) % 16) reduction(+ : sum)
    {
      int inner = 0;
#pragma omp parallel num_threads(1 + size % 3) reduction(+ : inner)
      inner += hearth_location() >= 0;
      sum += inner == 1 + size % 3;
    }
    expect(sum == 1 + (size * 7) % 16, "each thread has a location");
  }
}

static void* thread_of_the_program(void* unused) {
  (void)unused;
  for (int i = 0; i < 5; i++) {
    int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += hearth_location() >= 0;
    expect(sum == 3, "the teams of the program's own threads have seats");
  }
  return NULL;
}

static void teams_come_and_go(void) {
  pthread_t threads[4];
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread_of_the_program, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  }
}

static void a_child_of_fork_has_seats_of_its_own(void) {
  const pid_t child = fork();
  if (child == 0) {
    failures = 0;
    nested_teams_are_beside_their_primary();
    _exit(failures != 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  expect(status == 0, "a child of fork");
}

int main(void) {
  if (!hearth_location) return 0;
  omp_set_max_active_levels(2);
  nested_teams_are_beside_their_primary();
  a_full_team_has_a_cpu_for_each_thread();
  a_child_of_fork_has_seats_of_its_own();
  more_threads_than_cpus_run();
  sizes_change();
  teams_come_and_go();
  a_team_that_outgrows_its_location_uses_the_others();
  return failures != 0;
}
