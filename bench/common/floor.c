// The machine's own floor: what one cache line costs to travel between two cores. No OpenMP here: two pinned
// pthreads.
//
// round_trip: A writes its line, B sees it and answers in its own line, A sees the answer. No fork and join
//             can be faster: the worker has to learn of the region and the master of its end.
// exchange:   both write their own line and wait for the other's, as the cheapest barrier of two would.
//
// One way is half a round trip. Each line has one writer and stands alone on a pair of lines, because the
// prefetcher fetches pairs. Prints one JSON object; also the time of the calibration loop on an idle core.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum {
  kTurns = 2000,      // a quarter of a millisecond: most samples fit between two disturbances
  kPatience = 20000,  // looks, some 20 us
  kBudgetMs = 1000,   // on a busy machine fewer samples are taken
};

struct line {
  _Alignas(128) atomic_uint value;
};

static struct line ping;
static struct line pong;
static int cpus[2];
static atomic_bool stopped;

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  const int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  if (error) bench_fail("cannot run on CPU %d: %s", cpu, strerror(error));
}

static void find_two_cpus(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) bench_fail("sched_getaffinity failed");
  int found = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus[found++] = cpu;
  }
  if (found < 2) bench_fail("the ping-pong needs two CPUs, this process may use one");
}

// Turns are numbered through, over all samples: a partner that is one turn ahead is never mistaken for one
// behind. Every other sample waits with a pause instruction: without it the waiter sees the news sooner on a
// core of its own, with it on a core that it shares with the partner, as two virtual CPUs may. Whoever waits
// far longer than a line travels yields, or on a busy machine two pinned threads would hardly ever run at the
// same time. Returns false when `stopped` says that nothing will come any more.
static bool await(struct line* line, unsigned turn, bool with_pause) {
  for (unsigned looks = 1; (int)(atomic_load_explicit(&line->value, memory_order_acquire) - turn) < 0;
       ++looks) {
    if (with_pause) __builtin_ia32_pause();
    if (looks % kPatience != 0) continue;
    if (atomic_load_explicit(&stopped, memory_order_relaxed)) return false;
    sched_yield();
  }
  return true;
}

static void say(struct line* line, unsigned turn) {
  atomic_store_explicit(&line->value, turn, memory_order_release);
}

static void* answer(void* nothing) {
  pin(cpus[1]);
  unsigned turn = 0;
  for (bool with_pause = false;; with_pause = !with_pause) {
    for (int i = 0; i < kTurns; ++i) {  // round trip: answer what came
      if (!await(&ping, ++turn, with_pause)) return nothing;
      say(&pong, turn);
    }
    for (int i = 0; i < kTurns; ++i) {  // exchange: say mine, await the other's
      say(&pong, ++turn);
      if (!await(&ping, turn, with_pause)) return nothing;
    }
  }
}

static double measure(unsigned* turn, bool with_pause) {
  const uint64_t start = bench_now_ns();
  for (int i = 0; i < kTurns; ++i) {
    say(&ping, ++*turn);
    await(&pong, *turn, with_pause);
  }
  return (double)(bench_now_ns() - start) / kTurns;
}

int main(int argc, char** argv) {
  const int samples = (int)bench_parse_long("samples", argc > 1 ? argv[1] : "15", 1, kBenchMaxSamples);
  static struct bench_samples round_trip;
  static struct bench_samples exchange;
  find_two_cpus();
  pin(cpus[0]);
  double spin = bench_spin_once();
  for (int i = 0; i < 500; ++i) {
    const double ns = bench_spin_once();
    if (ns < spin) spin = ns;
  }
  pthread_t partner;
  if (pthread_create(&partner, NULL, answer, NULL)) bench_fail("pthread_create failed");
  unsigned turn = 0;
  const uint64_t stop = bench_now_ns() + (uint64_t)kBudgetMs * 1000000;
  for (int s = 0; s < samples && (s < 2 || bench_now_ns() < stop); ++s) {
    round_trip.ns[round_trip.count++] = measure(&turn, s % 2);
    exchange.ns[exchange.count++] = measure(&turn, s % 2);
  }
  atomic_store_explicit(&stopped, true, memory_order_relaxed);
  pthread_join(partner, NULL);
  printf("{\"spin_ns\": %.1f, \"round_trip\": ", spin);
  bench_print_samples(&round_trip);
  printf(", \"exchange\": ");
  bench_print_samples(&exchange);
  printf("}\n");
  return 0;
}
