/* A lock stays within the bytes that this compiler's omp.h gives it, whatever happens to it. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct guarded_lock {
  unsigned char before[64];
  omp_lock_t lock;
  unsigned char after[64];
};
struct guarded_nest_lock {
  unsigned char before[64];
  omp_nest_lock_t lock;
  unsigned char after[64];
};

static struct guarded_lock simple;
static struct guarded_nest_lock nest;

static int intact(const unsigned char* bytes) {
  for (int i = 0; i < 64; ++i)
    if (bytes[i] != 0xa5) return 0;
  return 1;
}

int main(void) {
  memset(&simple, 0xa5, sizeof simple);
  memset(&nest, 0xa5, sizeof nest);
  omp_init_lock(&simple.lock);
  omp_init_nest_lock(&nest.lock);
  long counted = 0, nested = 0, tested = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 2000; ++i) {
    omp_set_lock(&simple.lock);
    ++counted;
    if (i % 500 == 0) usleep(1500); /* long enough that the others sleep, starve and are handed the lock */
    omp_unset_lock(&simple.lock);
    if (omp_test_lock(&simple.lock)) {
      ++tested;
      omp_unset_lock(&simple.lock);
    }
    omp_set_nest_lock(&nest.lock);
    if (omp_test_nest_lock(&nest.lock) == 2) ++nested;
    if (i % 500 == 0) usleep(1500);
    omp_unset_nest_lock(&nest.lock);
    omp_unset_nest_lock(&nest.lock);
  }
  omp_destroy_lock(&simple.lock);
  omp_destroy_nest_lock(&nest.lock);
  if (!intact(simple.before) || !intact(simple.after) || !intact(nest.before) || !intact(nest.after)) {
    printf("wrong: a lock wrote outside of itself (%zu and %zu bytes)\n", sizeof simple.lock,
           sizeof nest.lock);
    return 1;
  }
  if (counted != 8000 || nested != 8000) {
    printf("wrong: %ld %ld\n", counted, nested);
    return 1;
  }
  printf("right: %ld tested\n", tested);
  return 0;
}
