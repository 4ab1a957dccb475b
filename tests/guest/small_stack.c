// A thread with the least stack opens the program's first region.
#include <limits.h>
#include <pthread.h>

#include "check.h"

static void* first_region(void* unused) {
  CHECK(team_of(2) == 2);
  return unused;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
  CHECK(pthread_create(&thread, &attributes, first_region, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  return 0;
}
