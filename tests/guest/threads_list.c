// A list in a num_threads clause, through the entry points that later clangs call: one number per nesting
// level.
#include "check.h"

int __kmpc_global_thread_num(void* where);
void __kmpc_push_num_threads_list(void* where, int gtid, unsigned length, const int* values);
void __kmpc_push_num_threads_strict(void* where, int gtid, int count, int severity, const char* message);
void __kmpc_fork_call(void* where, int argc, void (*microtask)(int*, int*, ...), ...);

static void outer(int* gtid, int* btid, ...) {
  (void)gtid, (void)btid;
  CHECK(omp_get_num_threads() == 2);
#pragma omp parallel
  {
    CHECK(omp_get_num_threads() == 3);
#pragma omp parallel
    CHECK(omp_get_num_threads() == 4 && omp_get_level() == 3);
  }
}

int main(void) {
  const int list[] = {2, 3, 4};
  omp_set_max_active_levels(3);
  omp_set_num_threads(5);
  for (int i = 0; i < 3; ++i) {
    __kmpc_push_num_threads_list(NULL, __kmpc_global_thread_num(NULL), 3, list);
    __kmpc_fork_call(NULL, 0, outer);
  }
  CHECK(omp_get_max_threads() == 5 && team_of(omp_get_max_threads()) == 5);
#pragma omp parallel
  CHECK(omp_get_num_threads() == 5);
  omp_set_max_active_levels(0);
  __kmpc_push_num_threads_strict(NULL, 0, 7, 1, "seven threads are wanted");
  return 0;
}
