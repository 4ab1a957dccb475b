// Crashes: where and how is told by the arguments.
#include <signal.h>

#include "check.h"

static void own_handler(int signal) { _exit(40 + signal); }

static void crash(const char* how) {
  if (strcmp(how, "segv") == 0) *(volatile int*)16 = 1;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "stack") == 0) {
    volatile char frame[1 << 16];
    frame[0] = 1;
    crash(how);
    frame[1] = 2;
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  if (strcmp(argv[1], "handled") == 0) signal(SIGSEGV, own_handler);
  CHECK(team_of(2) == 2);
  if (strcmp(argv[1], "outside") == 0) crash(argv[2]);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) crash(argv[2]);
#pragma omp barrier
  }
  return 1;
}
