// A program's signal handlers run on its own threads, never on workers, and regions survive them.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "check.h"

static volatile sig_atomic_t caught, elsewhere;

static void on_alarm(int signal) {
  (void)signal;
  ++caught;
  if (syscall(SYS_gettid) != getpid()) elsewhere = 1;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = on_alarm;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval often = {{0, 1000}, {0, 1000}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  while (caught < 100) CHECK(team_of(4) == 4);
  CHECK(!elsewhere);
  return 0;
}
