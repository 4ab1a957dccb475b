// All threads of all teams look up things in one table, which is larger than what each has for itself. It is nobody's own: the
// threads stay with what is, and the table stays between them.
// env: HEARTH_MACHINE=opteron-8347hex4
#include "twist.h"

enum { kTable = 8 << 20, kOwn = 1 << 20, kThreads = kTeams * kMostThreads };

int main(void) {
  if (!hearth_affinity) return 0;
  omp_set_max_active_levels(2);
  int first[kThreads], last[kThreads];
  char* own[kThreads];
  char* table = hearth_mem_alloc(kTable, kAt, 0);
#pragma omp parallel num_threads(kTeams)
  {
    const int team = omp_get_thread_num();
#pragma omp parallel num_threads(kMostThreads)
    {
      const int me = team * kMostThreads + omp_get_thread_num();
      first[me] = hearth_location();
      own[me] = hearth_mem_alloc(kOwn, kAt, first[me]);
      expect(hearth_mem_attach(own[me], kOwn, kThread, kRead, kPasses) == 0, "attach its own");
      expect(hearth_mem_attach(table, kTable, kThread, kRead, kPasses) == 0, "attach the table");
    }
#pragma omp barrier
    for (int pass = 0; pass < 3; pass++)
#pragma omp parallel num_threads(kMostThreads)
      last[team * kMostThreads + omp_get_thread_num()] = hearth_location();
  }
  int home = -9;
  expect(hearth_mem_locate(table, kTable, &home) == 0 && home == 0, "the table has moved");
  for (int i = 0; i < kThreads; i++) {
    expect(hearth_mem_locate(own[i], kOwn, &home) == 0 && home == first[i], "a thread's own memory has moved");
    if (last[i] != first[i]) {
      printf("thread %d was at %d, is at %d\n", i, first[i], last[i]);
      ++failures;
    }
    hearth_mem_free(own[i]);
  }
  hearth_mem_free(table);
  return failures != 0;
}
