// Threads that the program made are root threads of their own, and give their workers back when they end.
#include <dirent.h>
#include <pthread.h>

#include "check.h"

static int threads_now(void) {
  DIR* tasks = opendir("/proc/self/task");
  CHECK(tasks != NULL);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

static void* guest(void* arg) {
  const int size = 2 + (int)(long)arg;
  CHECK(omp_get_level() == 0 && omp_get_thread_num() == 0 && !omp_in_parallel());
  for (int i = 0; i < 20; ++i) CHECK(team_of(size) == size);
  return NULL;
}

int main(void) {
  for (int round = 0; round < 20; ++round) {
    pthread_t threads[3];
    for (long i = 0; i < 3; ++i) CHECK(pthread_create(&threads[i], NULL, guest, (void*)i) == 0);
    CHECK(team_of(3) == 3);
    for (int i = 0; i < 3; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  }
  // Four roots at a time had 1 + 2 + 3 + 2 workers. Were they not given back, there would be over a hundred.
  CHECK(threads_now() <= 1 + 8);
  return 0;
}
