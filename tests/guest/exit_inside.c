// exit() from inside a region, by the thread whose number is given.
#include "check.h"

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int who = atoi(argv[1]);
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == who) exit(7);
#pragma omp barrier
  }
  return 1;
}
