// The main thread ends with pthread_exit() while a thread of the program goes on with regions.
#include <pthread.h>

#include "check.h"

static void* survivor(void* main_thread) {
  CHECK(pthread_join(*(pthread_t*)main_thread, NULL) == 0);
  for (int i = 0; i < 20; ++i) CHECK(team_of(4) == 4);
  exit(9);
}

int main(void) {
  static pthread_t self;
  self = pthread_self();
  CHECK(team_of(4) == 4);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, survivor, &self) == 0);
  pthread_exit(NULL);
}
