// The omp_* calls with values nobody should give, and what they leave behind.
#include "check.h"

int main(void) {
  omp_set_num_threads(-3);
  CHECK(omp_get_max_threads() == 1);
  omp_set_num_threads(5);
  CHECK(omp_get_max_threads() == 5);
  omp_set_max_active_levels(3);
  omp_set_max_active_levels(-1);
  CHECK(omp_get_max_active_levels() == 3);
  omp_sched_t kind;
  int chunk;
  omp_set_schedule(omp_sched_dynamic, -7);
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_dynamic && chunk == 1);
  omp_set_schedule((omp_sched_t)77, 4);
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_dynamic && chunk == 1);
  CHECK(omp_get_ancestor_thread_num(-1) == -1 && omp_get_ancestor_thread_num(1) == -1);
  CHECK(omp_get_team_size(-1) == -1 && omp_get_team_size(1) == -1 && omp_get_team_size(0) == 1);
#pragma omp parallel num_threads(2)
  {
    const int mine = omp_get_thread_num();
    omp_set_num_threads(2 + mine);  // the task's own
    CHECK(omp_get_max_threads() == 2 + mine);
#pragma omp parallel
    {
      CHECK(omp_get_num_threads() == 2 + mine);
      CHECK(omp_get_level() == 2 && omp_get_active_level() == 2);
      CHECK(omp_get_ancestor_thread_num(1) == mine && omp_get_ancestor_thread_num(2) == omp_get_thread_num());
      CHECK(omp_get_team_size(1) == 2 && omp_get_team_size(2) == 2 + mine && omp_get_team_size(3) == -1);
    }
  }
  CHECK(omp_get_max_threads() == 5);
#pragma omp parallel num_threads(2)
  CHECK(omp_pause_resource_all(omp_pause_soft) != 0);
  CHECK(omp_pause_resource_all(omp_pause_hard) == 0);
  CHECK(team_of(4) == 4);
  char text[64];
  CHECK(omp_capture_affinity(text, sizeof(text), "%0.4n|%4L|%.3N|%%|%{num_teams}|%{nonsense}") == 27);
  CHECK(strcmp(text, "0000|0   |  1|%|1|undefined") == 0);
  return 0;
}
