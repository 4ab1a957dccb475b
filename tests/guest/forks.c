// fork() in serial, with live teams, and inside a region: the child has a full new team.
#include "check.h"

static void child_of_serial(void) {
  const pid_t child = fork();
  if (child == 0) {
    CHECK(team_of(4) == 4);
    CHECK(team_of(3) == 3);
    exit(11);
  }
  CHECK(status_of(child) == 11);
}

static void child_with_live_teams(void) {
  for (int i = 0; i < 10; ++i) {
    CHECK(team_of(4) == 4);
    const pid_t child = fork();
    if (child == 0) {
      CHECK(team_of(4) == 4);
      CHECK(team_of(6) == 6);
      const pid_t grandchild = fork();
      if (grandchild == 0) exit(team_of(5));
      CHECK(status_of(grandchild) == 5);
      exit(12);
    }
    CHECK(team_of(4) == 4);
    CHECK(status_of(child) == 12);
  }
}

static void child_with_nested_teams(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  CHECK(team_of(2) == 2);
  const pid_t child = fork();
  if (child == 0) {
#pragma omp parallel num_threads(2)
    CHECK(team_of(3) == 3);
    exit(13);
  }
  CHECK(status_of(child) == 13);
}

static void child_of_a_region(int who) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == who) {
    const pid_t child = fork();
    if (child == 0) {
      CHECK(team_of(3) == 3);
      _exit(14);
    }
    CHECK(status_of(child) == 14);
  }
}

// A child that goes on after the region it was forked in: the primary thread's has it to itself, a worker's ends there.
static void child_leaves_the_region(int who) {
  pid_t child = -1;
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == who) child = fork();
  if (child == 0) {
    CHECK(who == 0);
    _exit(team_of(4) == 4 ? 15 : 1);
  }
  CHECK(status_of(child) == (who == 0 ? 15 : 0));
}

int main(void) {
  child_of_serial();
  child_with_live_teams();
  child_with_nested_teams();
  child_of_a_region(0);
  child_of_a_region(1);
  child_leaves_the_region(0);
  child_leaves_the_region(2);
  CHECK(team_of(4) == 4);
  return 0;
}
