// Keeps all CPUs that it may use but the first busy with nothing, until it is ended: what others would run there
// could be on the other half of the first one's core, and make it half as fast. Each thread waits as spinning
// threads do, which takes next to nothing from such a neighbour. Of use with a priority above the others'.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void* wait_on(void* cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET((int)(long)cpu, &only);
  if (pthread_setaffinity_np(pthread_self(), sizeof only, &only) != 0) return NULL;
  for (;;) __builtin_ia32_pause();
}

int main(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  int first = 1;
  for (long cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    pthread_t thread;
    if (!first && pthread_create(&thread, NULL, wait_on, (void*)cpu) != 0) return 1;
    first = 0;
  }
  puts("calm");
  fflush(stdout);
  pause();
  return 0;
}
