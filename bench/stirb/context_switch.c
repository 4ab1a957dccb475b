// In the spirit of Context Switch (Stirb 2018, 6.2): two threads hand a token to and fro, over pipes or over a futex.
//
// usage: context_switch pipe|futex ROUNDS
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int there[2], back[2];
static int rounds;
static int turn;

static void *ping(void *unused) {
  char token = 0;
  for (int n = 0; n < rounds; n++)
    if (write(there[1], &token, 1) != 1 || read(back[0], &token, 1) != 1) return unused;
  return NULL;
}

static void *pong(void *unused) {
  char token;
  for (int n = 0; n < rounds; n++)
    if (read(there[0], &token, 1) != 1 || write(back[1], &token, 1) != 1) return unused;
  return NULL;
}

static void wait_for(int mine) {
  int now;
  while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != mine) syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL);
}

static void give(int other) {
  __atomic_store_n(&turn, other, __ATOMIC_RELEASE);
  syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1);
}

static void *even(void *unused) {
  for (int n = 0; n < rounds; n++) {
    wait_for(0);
    give(1);
  }
  return unused;
}

static void *odd(void *unused) {
  for (int n = 0; n < rounds; n++) {
    wait_for(1);
    give(0);
  }
  return unused;
}

int main(int argc, char **argv) {
  rounds = argc > 2 ? atoi(argv[2]) : 20000;
  if (argc < 2 || rounds < 1 || pipe(there) != 0 || pipe(back) != 0) return 2;
  pthread_t one, two;
  if (strcmp(argv[1], "pipe") == 0) {
    if (pthread_create(&one, NULL, ping, NULL) != 0 || pthread_create(&two, NULL, pong, NULL) != 0) return 1;
  } else {
    if (pthread_create(&one, NULL, even, NULL) != 0 || pthread_create(&two, NULL, odd, NULL) != 0) return 1;
  }
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  printf("%d\n", rounds);
  return 0;
}
