/* target constructs on the host, as gcc compiles them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                    \
  do {                                                 \
    if (!(what)) {                                     \
      printf("wrong: line %d: %s\n", __LINE__, #what); \
      exit(1);                                         \
    }                                                  \
  } while (0)

struct __attribute__((aligned(64))) wide {
  int values[16];
};

int main(void) {
  int a[100], sum = 0, level = -1, limit = -1, inside = -1;
  for (int i = 0; i < 100; ++i) a[i] = i;

#pragma omp target map(tofrom : sum) map(to : a)
  for (int i = 0; i < 100; ++i) sum += a[i];
  CHECK(sum == 4950);

  /* firstprivate is copied, with its alignment. */
  struct wide w = {{1, 2, 3}};
  int aligned = 0, seen = 0;
  int x = 5;
#pragma omp target firstprivate(w, x) map(from : aligned, seen)
  {
    aligned = ((unsigned long)&w & 63) == 0;
    w.values[0] += 10;
    seen = w.values[0] + x;
    x = 99;
  }
  CHECK(aligned && seen == 16 && w.values[0] == 1 && x == 5);

  /* A fresh initial task: no level around it, full teams inside, the limit honoured. */
#pragma omp parallel num_threads(2)
#pragma omp master
  {
#pragma omp target map(from : level, inside, limit) thread_limit(2)
    {
      level = omp_get_level();
      limit = omp_get_thread_limit();
#pragma omp parallel num_threads(2)
#pragma omp master
      inside = omp_get_num_threads();
    }
    CHECK(omp_get_level() == 1 && omp_get_num_threads() == 2);
  }
  CHECK(level == 0 && limit == 2 && inside == 2);

  /* nowait with dependences: in order, with the values of firstprivate at the construct. */
  int chain = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    for (int i = 1; i <= 10; ++i) {
#pragma omp target nowait depend(inout : chain) map(tofrom : chain) firstprivate(i)
      chain = chain * 2 + i;
    }
#pragma omp taskwait
  }
  int want = 0;
  for (int i = 1; i <= 10; ++i) want = want * 2 + i;
  CHECK(chain == want);

  /* Data directives: only the order counts. */
#pragma omp target data map(tofrom : a)
  {
#pragma omp target update to(a)
#pragma omp target enter data map(to : a) depend(out : a)
#pragma omp target exit data map(from : a) depend(in : a)
  }

  /* The device API. */
  const int host = omp_get_initial_device();
  CHECK(omp_get_num_devices() == 0 && omp_is_initial_device() && omp_get_device_num() == host);
  int* block = omp_target_alloc(100 * sizeof(int), host);
  CHECK(block != NULL && omp_target_is_present(block, host) && omp_target_alloc(8, host + 1) == NULL);
  CHECK(omp_target_memcpy(block, a, 50 * sizeof(int), 0, 50 * sizeof(int), host, host) == 0 &&
        block[0] == 50);
  CHECK(omp_target_memcpy(block, a, 8, 0, 0, host, host + 7) != 0);
  size_t volume[2] = {2, 3}, to_offset[2] = {1, 1}, from_offset[2] = {0, 2}, to_size[2] = {5, 10},
         from_size[2] = {10, 10};
  CHECK(omp_target_memcpy_rect(block, a, sizeof(int), 2, volume, to_offset, from_offset, to_size, from_size,
                               host, host) == 0);
  CHECK(block[11] == 2 && block[13] == 4 && block[21] == 12 && block[23] == 14 && block[14] != 5);
  CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, host) >= 3);
  CHECK(omp_target_associate_ptr(a, block, 8, 0, host) != 0 && omp_target_disassociate_ptr(a, host) != 0);
  omp_target_free(block, host);
  printf("right\n");
  return 0;
}
