// env: KMP_DETERMINISTIC_REDUCTION=true OMP_CANCELLATION=true
// A region is cancelled while some members are past its last cancellation point: they combine, the others do not, and
// nobody waits for a part that never comes. With a team that is large enough for a tree in any case.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
  long sum;
} slow_t;

#pragma omp declare reduction(slow : slow_t : omp_out.sum += omp_in.sum) initializer(omp_priv = (slow_t){0})

static int check(int members) {
  slow_t total = {0};
  int count = 0;
#pragma omp parallel num_threads(members) reduction(slow : total) reduction(+ : count)
  {
    total.sum = 1;
    count = 1;
    if (omp_get_thread_num() == 0) {
      usleep(5000);
#pragma omp cancel parallel
    } else if (omp_get_thread_num() % 3 == 1) {
      usleep(10000);
#pragma omp cancellation point parallel
    }
  }
  if (total.sum == count && count >= 0 && count <= members) return 0;
  printf("%d members: %ld and %d parts\n", members, total.sum, count);
  return 1;
}

int main(void) { return check(4) + check(16); }
