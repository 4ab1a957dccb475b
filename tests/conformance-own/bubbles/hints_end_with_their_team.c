// Teams that end take with them what was said of their memory; areas that are freed, too. Threads of the program come and go.
// env: HEARTH_MACHINE=opteron-8347hex4
// flags: -pthread
#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "expect.h"

void* hearth_mem_alloc(size_t size, int policy, int location) __attribute__((weak));
void hearth_mem_free(void* block) __attribute__((weak));
int hearth_mem_attach(void* address, size_t size, int who, int access, double passes) __attribute__((weak));
int hearth_mem_detach(void* address, int who) __attribute__((weak));
int hearth_affinity(void* address, size_t size, int access, int when) __attribute__((weak));
int hearth_mem_next_touch(void* address, size_t size, int how) __attribute__((weak));

enum { kBytes = 256 << 10, kAt = 2, kReadWrite = 3, kThread = 0, kTeam = 1, kNextTeam = 2, kNow = 0, kWhenAll = 1 };

static void* user(void* number) {
  const int me = *(int*)number;
  for (int round = 0; round < 4; round++) {
    char* data = hearth_mem_alloc(kBytes, kAt, (me + round) % 4);
    char* more = hearth_mem_alloc(kBytes, kAt, (me + round + 1) % 4);
    expect(data != NULL && more != NULL, "memory");
    expect(hearth_mem_attach(data, kBytes, kNextTeam, kReadWrite, 50) == 0, "attach to the next team");
    expect(hearth_mem_next_touch(more, kBytes, 0) == 0, "next touch");
    int sum = 0;
#pragma omp parallel num_threads(2 + (me + round) % 3) reduction(+ : sum)
    {
      const int i = omp_get_thread_num();
      expect(hearth_mem_attach(more + i * 4096, 4096, kThread, kReadWrite, 50) == 0, "attach to a thread");
      expect(hearth_affinity(data + i * 8192, 8192, kReadWrite, round % 2 ? kNow : kWhenAll) == 0, "affinity");
#pragma omp barrier
      for (int j = 0; j < 4096; j++) more[i * 4096 + j] = 1;
      sum += more[i * 4096];
      if (round == 2) expect(hearth_mem_detach(more + i * 4096, kThread) == 0, "detach");
    }
    expect(sum == 2 + (me + round) % 3, "all members have run");
    hearth_mem_free(data);
    if (round != 3) hearth_mem_free(more);  // the last one goes with its team
  }
  return NULL;
}

int main(void) {
  if (!hearth_affinity) return 0;
  for (int round = 0; round < 3; round++) {
    pthread_t threads[3];
    int numbers[3];
    for (int i = 0; i < 3; i++) {
      numbers[i] = i;
      pthread_create(&threads[i], NULL, user, &numbers[i]);
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    int mine = 3;
    user(&mine);
  }
  return failures != 0;
}
