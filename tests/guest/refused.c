// pthread_create() is refused, by RLIMIT_NPROC or by RLIMIT_AS, whatever number is asked for: the region runs with the threads that there
// are.
#define _GNU_SOURCE
#include <limits.h>
#include <sys/resource.h>

#include "check.h"

int main(int argc, char** argv) {
  CHECK(argc == 2);
  if (strcmp(argv[1], "nproc") == 0 || strcmp(argv[1], "most") == 0) {
    // The limit does not count for root.
    struct rlimit none = {1, 1};
    CHECK(setrlimit(RLIMIT_NPROC, &none) == 0);
    if (geteuid() == 0 && setresuid(54321, 54321, 54321) != 0) return 77;
  } else {
    struct rlimit memory = {(rlim_t)1 << 30,
                            (rlim_t)1 << 30};  // OMP_STACKSIZE=256M: at most three more threads
    CHECK(setrlimit(RLIMIT_AS, &memory) == 0);
  }
  if (strcmp(argv[1], "most") == 0) {
    // Nor is there room for what a team of that size would have.
    struct rlimit memory = {(rlim_t)8 << 30, (rlim_t)8 << 30};
    CHECK(setrlimit(RLIMIT_AS, &memory) == 0);
    omp_set_num_threads(INT_MAX);
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += 1;
    CHECK(sum >= 1 && sum < 8);
    return 0;
  }
  for (int i = 0; i < 50; ++i) {
    const int size = team_of(8);
    CHECK(size >= 1 && size < 8);
  }
  return 0;
}
