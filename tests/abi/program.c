/* What most programs use: a region, a critical section, a lock, a barrier, an atomic update. */
#include <omp.h>
#include <stdio.h>

int only_hearth_is_mapped(void);

int main(void) {
  int threads = 0, in_critical = 0, in_named = 0, locked = 0, in_atomic = 0, nested = 0, after_barrier = 1;
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(4)
  {
    for (int i = 0; i < 1000; ++i) {
#pragma omp critical
      ++in_critical;
#pragma omp critical(name)
      ++in_named;
      omp_set_lock(&lock);
      ++locked;
      omp_unset_lock(&lock);
#pragma omp atomic
      ++in_atomic;
      omp_set_nest_lock(&nest);
      omp_set_nest_lock(&nest);
      ++nested;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
    }
#pragma omp barrier
    if (in_critical != 1000 * omp_get_num_threads()) after_barrier = 0;
    if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
  const int want = 1000 * threads;
  if (threads < 1 || in_critical != want || in_named != want || locked != want || in_atomic != want ||
      nested != want || !after_barrier) {
    printf("wrong: %d threads, %d %d %d %d %d, %d\n", threads, in_critical, in_named, locked, in_atomic,
           nested, after_barrier);
    return 1;
  }
  if (!only_hearth_is_mapped()) {
    printf("another runtime is mapped\n");
    return 1;
  }
  printf("right: %d threads\n", threads);
  return 0;
}
