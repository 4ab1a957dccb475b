// The thread limit of teams that say nothing of it: what OMP_TEAMS_THREAD_LIMIT and omp_set_teams_thread_limit()
// ask for, whatever the number of CPUs and of teams.
//
// env: OMP_TEAMS_THREAD_LIMIT=8
#include <omp.h>
#include <stdio.h>

enum { kTeams = 4 };

static int wrong;

#define EXPECT(x)                                             \
  do {                                                        \
    if (!(x)) {                                               \
      __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);          \
      fprintf(stderr, "line %d: not so: %s\n", __LINE__, #x); \
    }                                                         \
  } while (0)

// gcc refuses the call itself in a teams construct.
__attribute__((noinline)) static int thread_limit(void) { return omp_get_thread_limit(); }

static void league(int limit) {
  int seen[kTeams] = {0}, members[kTeams] = {0};
#pragma omp teams num_teams(kTeams) shared(seen, members)
  {
    const int team = omp_get_team_num();
    seen[team] = thread_limit();
#pragma omp parallel num_threads(3)
#pragma omp atomic
    members[team]++;
  }
  for (int i = 0; i < kTeams; ++i) EXPECT(seen[i] == limit && members[i] == 3);
}

int main(void) {
  omp_set_dynamic(0);
  EXPECT(omp_get_teams_thread_limit() == 8);
  league(8);
  omp_set_teams_thread_limit(5);
  league(5);
#pragma omp teams num_teams(2) thread_limit(2)
  EXPECT(thread_limit() == 2);
  return wrong;
}
