// fork() in serial, with live teams, inside a region, and while another thread holds one of the library's
// locks: the child has a full new team and can use everything.
#include <pthread.h>

#include "check.h"

// What gcc calls for unnamed critical sections and for atomic updates that no instruction does.
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

static void take_locks(void) {
  GOMP_critical_start();
  GOMP_atomic_start();
}

static void give_locks(void) {
  GOMP_atomic_end();
  GOMP_critical_end();
}

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

// A child that goes on after the region it was forked in: the primary thread's has it to itself, a worker's
// ends there.
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

static void* hold_locks(void* barrier) {
  take_locks();
  pthread_barrier_wait(barrier);  // the child is made between these two
  pthread_barrier_wait(barrier);
  give_locks();
  return NULL;
}

static void child_while_locks_are_held(void) {
  pthread_barrier_t barrier;
  pthread_t holder;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&holder, NULL, hold_locks, &barrier) == 0);
  pthread_barrier_wait(&barrier);
  const pid_t child = fork();
  if (child == 0) {
    long sum = 0;
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 100; ++i) {
      take_locks();
      ++sum;
      give_locks();
    }
    _exit(sum == 400 ? 16 : 1);
  }
  CHECK(status_of(child) == 16);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(holder, NULL) == 0);
  take_locks();
  give_locks();
}

static void child_made_under_a_lock(void) {
  take_locks();
  const pid_t child = fork();
  give_locks();
  if (child == 0) {
    take_locks();
    give_locks();
    _exit(17);
  }
  CHECK(status_of(child) == 17);
}

int main(void) {
  child_while_locks_are_held();
  child_made_under_a_lock();
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
