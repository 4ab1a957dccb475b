// A reduction over a league: the teams combine into the same variables, one after the other. The combiner
// takes its time, so that teams which do not wait for one another meet in it.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
  long sum;
} slow_t;

static int inside, met;

static void slow_add(slow_t* out, const slow_t* in) {
  if (__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) != 1) __atomic_store_n(&met, 1, __ATOMIC_SEQ_CST);
  const long before = out->sum;
  usleep(2000);
  out->sum = before + in->sum;
  __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

#pragma omp declare reduction(slow:slow_t : slow_add(&omp_out, &omp_in)) initializer(omp_priv = (slow_t){0})

int main(void) {
  int wrong = 0;
  for (int round = 0; round < 20; ++round) {
    slow_t total = {1};
    int teams = 0;
#pragma omp teams num_teams(4) reduction(slow : total) reduction(+ : teams)
    {
      total.sum = omp_get_team_num() + 1;
      teams = 1;
    }
    const long expected = 1 + teams * (teams + 1L) / 2;
    if (teams < 1 || total.sum != expected || met) {
      printf("%d teams: %ld instead of %ld%s\n", teams, total.sum, expected,
             met ? "; two combined at once" : "");
      wrong = 1;
      break;
    }
  }
  return wrong;
}
