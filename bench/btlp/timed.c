// The timed half of the corpus: one way of sharing work among threads for each KIND, with a fixed amount of work:
// about a tenth of a second, beside which the start-up does not count (bench/btlp/run measures that by itself).
//
// Built once for each kind (-DKIND_NUMBER=n), so that each is a program of its own for the analysis, as in tests/btlp.
// usage: timed THREADS (1 to 64). bench/btlp/run names the kinds.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 64, kWork = 60000000, kSlots = 1 << 18 };

static int threads;

/// Keeps the compiler from leaving the work out.
static void use(long value) { __asm__ volatile("" : : "r"(value)); }

__attribute__((unused)) static long compute(long seed, long steps) {
  unsigned long x = (unsigned long)seed * 2654435761u + 1;
  for (long n = 0; n < steps; n++) x = (x ^ x >> 29) * 6364136223846793005ul + 1;
  return (long)(x >> 33);
}

static void each(void *(*routine)(void *), int count) {
  pthread_t all[kMost];
  for (long n = 0; n < count; n++)
    if (pthread_create(&all[n], 0, routine, (void *)n) != 0) exit(2);
  for (int n = 0; n < count; n++) pthread_join(all[n], 0);
}

#if KIND_NUMBER == 0  // alone: no data in common
static void *work(void *p) {
  use(compute((long)p, kWork / threads));
  return 0;
}
#elif KIND_NUMBER == 1  // slices: each its part of one array
static long data[kSlots];
static void *work(void *p) {
  const long id = (long)p, lo = id * kSlots / threads, hi = (id + 1) * kSlots / threads;
  for (int round = 0; round < 1200; round++)
    for (long n = lo; n < hi; n++) data[n] = data[n] * 3 + n;
  return 0;
}
#elif KIND_NUMBER == 2  // heap: each memory of its own
static void *work(void *p) {
  const long count = kSlots / threads;
  long *own = calloc((size_t)count, sizeof *own), sum = (long)p;
  for (int round = 0; round < 1200; round++)
    for (long n = 0; n < count; n++) own[n] = own[n] * 3 + n;
  sum += own[count / 2];
  free(own);
  use(sum);
  return 0;
}
#elif KIND_NUMBER == 3  // table: all read what main has filled
static long data[kSlots];
static void *work(void *p) {
  long sum = (long)p;
  for (long n = 0; n < kWork / threads; n++) sum += data[(n * 7919) & (kSlots - 1)];
  use(sum);
  return 0;
}
#elif KIND_NUMBER == 4  // reduction: own work, one addition at the end
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *work(void *p) {
  const long mine = compute((long)p, kWork / threads);
  pthread_mutex_lock(&lock);
  total += mine;
  pthread_mutex_unlock(&lock);
  return 0;
}
#elif KIND_NUMBER == 5  // counter: a lock around every step
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *work(void *p) {
  (void)p;
  for (long n = 0; n < 6000000 / threads; n++) {
    pthread_mutex_lock(&lock);
    total += n;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
#elif KIND_NUMBER == 6  // updates: an atomic addition for every step
static long total;
static void *work(void *p) {
  (void)p;
  for (long n = 0; n < 24000000 / threads; n++) __atomic_fetch_add(&total, n, __ATOMIC_RELAXED);
  return 0;
}
#elif KIND_NUMBER == 7  // pairs: a producer and a consumer with a ring
struct ring {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  long slots[64], head, tail, sum;
};
static struct ring rings[kMost];
static void *work(void *p) {
  const long id = (long)p;
  struct ring *ring = &rings[id / 2];
  for (long n = 0; n < 600000 / threads; n++) {
    pthread_mutex_lock(&ring->lock);
    if (id % 2 == 0) {
      while (ring->head - ring->tail == 64) pthread_cond_wait(&ring->changed, &ring->lock);
      ring->slots[ring->head++ & 63] = n;
    } else {
      while (ring->head == ring->tail) pthread_cond_wait(&ring->changed, &ring->lock);
      ring->sum += ring->slots[ring->tail++ & 63];
    }
    pthread_cond_signal(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
  }
  return 0;
}
#elif KIND_NUMBER == 8  // turns: one word goes round
static int turn;
static void *work(void *p) {
  const int id = (int)(long)p;
  // With more threads than CPUs a turn takes a round of the scheduler.
  for (int n = 0; n < (threads > 2 ? 4000 : 8000) / threads; n++) {
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != id) sched_yield();
    use(compute(n, 2000));
    __atomic_store_n(&turn, (id + 1) % threads, __ATOMIC_RELEASE);
  }
  return 0;
}
#elif KIND_NUMBER == 9  // stages: a barrier, then the neighbour's part
static long data[kSlots];
static pthread_barrier_t barrier;
static void *work(void *p) {
  const long id = (long)p, count = kSlots / threads;
  long sum = 0;
  for (int round = 0; round < 500; round++) {
    for (long n = 0; n < count; n++) data[id * count + n] += n + round;
    pthread_barrier_wait(&barrier);
    const long other = (id + 1) % threads;
    for (long n = 0; n < count; n++) sum += data[other * count + n];
    pthread_barrier_wait(&barrier);
  }
  use(sum);
  return 0;
}
#elif KIND_NUMBER == 10  // churn: threads that hardly live
static void *work(void *p) {
  use(compute((long)p, 200));
  return 0;
}
#elif KIND_NUMBER == 11  // nested: threads that create one more each
static void *inner(void *p) {
  use(compute((long)p, kWork / threads / 2));
  return 0;
}
static void *work(void *p) {
  pthread_t other;
  if (pthread_create(&other, 0, inner, p) != 0) exit(2);
  use(compute((long)p + 1, kWork / threads / 2));
  pthread_join(other, 0);
  return 0;
}
#endif

int main(int argc, char **argv) {
  threads = argc > 1 ? atoi(argv[1]) : 2;
  if (threads < 1 || threads > kMost) return 2;
#if KIND_NUMBER == 3
  for (long n = 0; n < kSlots; n++) data[n] = n * 3;
#elif KIND_NUMBER == 7
  if (threads % 2 != 0) threads++;
  for (int n = 0; n < kMost; n++) {
    pthread_mutex_init(&rings[n].lock, 0);
    pthread_cond_init(&rings[n].changed, 0);
  }
#elif KIND_NUMBER == 9
  pthread_barrier_init(&barrier, 0, (unsigned)threads);
#elif KIND_NUMBER == 10
  for (int round = 0; round < 2000 / threads; round++) each(work, threads);
  return 0;
#endif
  each(work, threads);
  return 0;
}
