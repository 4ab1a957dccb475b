// What every guest program needs: a check that says what failed and ends the program, and team sizes.
#pragma once

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                               \
    }                                                                         \
  } while (0)

/// Threads that a region of `wanted` threads really has; each must come exactly once.
static inline int team_of(int wanted) {
  int size = 0, came = 0;
#pragma omp parallel num_threads(wanted) reduction(+ : came)
  {
    came += 1;
#pragma omp barrier
#pragma omp single
    size = omp_get_num_threads();
  }
  CHECK(came == size);
  return size;
}

/// Waits for a child and returns its exit status; a child that was killed fails the test.
static inline int status_of(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}
