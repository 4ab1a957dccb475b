// The rows of the overhead benchmark, in the style of the EPCC suite: each construct with nothing inside it.
//
// Who runs what: run() functions are called by the main thread; the bodies by the whole team. Shared state:
// `touched` and the order checks are written only while verifying; `guarded` only inside the construct under
// test that guards it. Repetition loops stand inside the region where the construct does not open one itself,
// so the region's own cost is spread over all repetitions. Loop bounds are read through a volatile, so that
// no compiler specialises for them.
#include "constructs.h"

#include <omp.h>
#include <stddef.h>
#include <stdio.h>

#include "../common/bench.h"

#define PRAGMA_OF(text) _Pragma(#text)
#define PRAGMA(text) PRAGMA_OF(text)

enum {
  kLongLoop = 1024,   // iterations where the schedule hands out chunks
  kShortLoop = 64,    // of static chunks, without a library call each: only the loop's own cost shows
  kTaskBatch = 1024,  // beyond libgomp's throttle at 64 tasks per thread, so both its sides are in the figure
  kDependBatch = 512,
  kTreeDepth = 9,   // 1023 nodes
  kFibonacci = 12,  // 465 calls, 464 of them tasks
  kTaskloopLong = 1024,
  kTaskloopShort = 256,
};

static int verifying = 0;
static long touched = 0;
static long disorder = 0;
static long guarded = 0;
static volatile int opaque_loop_scale = 1;

static inline void touch(long value) {
  if (__builtin_expect(verifying, 0)) __atomic_fetch_add(&touched, 1, __ATOMIC_RELAXED);
  __asm__ volatile("" : : "r"(value) : "memory");
}

static inline void report_disorder(void) { __atomic_fetch_add(&disorder, 1, __ATOMIC_RELAXED); }

static int team_size(void) { return omp_get_max_threads(); }

// ------------------------------------------------------------------------------------------------- regions

static struct work run_parallel(long reps) {
  for (long r = 0; r < reps; ++r) {
#pragma omp parallel
    touch(r);
  }
  return (struct work){reps, reps * team_size()};
}

static struct work run_parallel_for(long reps) {
  const int n = team_size() * opaque_loop_scale;
  for (long r = 0; r < reps; ++r) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; ++i) touch(i);
  }
  return (struct work){reps, reps * n};
}

static struct work run_parallel_reduction(long reps) {
  long sum = 0;
  for (long r = 0; r < reps; ++r) {
#pragma omp parallel reduction(+ : sum)
    {
      sum += 1;
      touch(sum);
    }
  }
  if (sum != reps * team_size())
    bench_fail("parallel reduction: %ld instead of %ld", sum, reps * team_size());
  return (struct work){reps, reps * team_size()};
}

// --------------------------------------------------------------------------------------------------- loops

#define LOOP_ROW(function, iterations, clauses)     \
  static struct work function(long reps) {          \
    const int n = (iterations) * opaque_loop_scale; \
    PRAGMA(omp parallel)                            \
    for (long r = 0; r < reps; ++r) {               \
      PRAGMA(omp for clauses)                       \
      for (int i = 0; i < n; ++i) touch(i);         \
    }                                               \
    return (struct work){reps, reps * n};           \
  }

LOOP_ROW(run_for_static, team_size(), schedule(static))
LOOP_ROW(run_for_static_chunk, kShortLoop, schedule(static, 8))
LOOP_ROW(run_for_dynamic_1, kLongLoop, schedule(dynamic, 1))
LOOP_ROW(run_for_dynamic_8, kLongLoop, schedule(dynamic, 8))
LOOP_ROW(run_for_guided, kLongLoop, schedule(guided))

static struct work run_for_reduction(long reps) {
  const int n = team_size() * opaque_loop_scale;
  long sum = 0;
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp for schedule(static) reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
      sum += 1;
      touch(i);
    }
  }
  if (sum != reps * n) bench_fail("for reduction: %ld instead of %ld", sum, reps * n);
  return (struct work){reps, reps * n};
}

static struct work run_ordered(long reps) {
  long next = 0;
#pragma omp parallel for ordered schedule(static, 1)
  for (long i = 0; i < reps; ++i) {
#pragma omp ordered
    {
      if (next != i) report_disorder();
      next = i + 1;
      touch(i);
    }
  }
  return (struct work){reps, reps};
}

// ----------------------------------------------------------------------------------------- synchronisation

static struct work run_barrier(long reps) {
  const int n = team_size();
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
    if (__builtin_expect(verifying, 0)) {  // everybody of the round before must have arrived
      if (__atomic_load_n(&touched, __ATOMIC_RELAXED) < r * n) report_disorder();
      touch(r);
    }
#pragma omp barrier
  }
  return (struct work){reps, verifying ? reps * n : 0};
}

static struct work run_single(long reps) {
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp single
    touch(r);
  }
  return (struct work){reps, reps};
}

static void check_guarded(const char* name, long expected) {
  if (guarded != expected) bench_fail("%s let two threads in: %ld instead of %ld", name, guarded, expected);
}

static struct work run_critical(long reps) {
  guarded = 0;
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp critical(bench_guard)
    {
      guarded += 1;
      touch(r);
    }
  }
  check_guarded("critical", reps * team_size());
  return (struct work){reps * team_size(), reps * team_size()};
}

static struct work run_lock(long reps) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  guarded = 0;
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
    omp_set_lock(&lock);
    guarded += 1;
    touch(r);
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  check_guarded("lock", reps * team_size());
  return (struct work){reps * team_size(), reps * team_size()};
}

static struct work run_lock_uncontended(long reps) {
  long own = 0;
#pragma omp parallel reduction(+ : own)
  {
    omp_lock_t lock;  // on each thread's own stack
    omp_init_lock(&lock);
    for (long r = 0; r < reps; ++r) {
      omp_set_lock(&lock);
      own += 1;
      touch(r);
      omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
  }
  if (own != reps * team_size()) bench_fail("uncontended lock: %ld instead of %ld", own, reps * team_size());
  return (struct work){reps, reps * team_size()};
}

static struct work run_atomic(long reps) {
  long sum = 0;
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp atomic
    sum += 1;
    touch(r);
  }
  if (sum != reps * team_size()) bench_fail("atomic: %ld instead of %ld", sum, reps * team_size());
  return (struct work){reps * team_size(), reps * team_size()};
}

// --------------------------------------------------------------------------------------------------- tasks

static struct work run_task_one_creator(long reps) {
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp single
    for (long i = 0; i < kTaskBatch; ++i) {
#pragma omp task firstprivate(i)
      touch(i);
    }
  }
  return (struct work){reps * kTaskBatch, reps * kTaskBatch};
}

static struct work run_task_all_creators(long reps) {
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
    for (long i = 0; i < kTaskBatch; ++i) {
#pragma omp task firstprivate(i)
      touch(i);
    }
#pragma omp barrier
  }
  return (struct work){reps * kTaskBatch * team_size(), reps * kTaskBatch * team_size()};
}

static long fibonacci(int n) {
  long x = 0;
  long y = 0;
  if (n < 2) return n;
#pragma omp task shared(x) firstprivate(n)
  x = fibonacci(n - 1);
#pragma omp task shared(y) firstprivate(n)
  y = fibonacci(n - 2);
#pragma omp taskwait
  touch(n);
  return x + y;
}

static struct work run_task_nested(long reps) {
  const long inner_calls = 232;  // calls of fibonacci(12) that create two tasks and wait
  long result = 0;
  for (long r = 0; r < reps; ++r) {
#pragma omp parallel
#pragma omp single
    result += fibonacci(kFibonacci);
  }
  if (result != reps * 144)
    bench_fail("nested tasks: fibonacci(12) summed to %ld, not %ld", result, reps * 144);
  return (struct work){reps * 2 * inner_calls, reps * inner_calls};
}

static void grow_tree(int depth) {
  touch(depth);
  if (depth == 0) return;
  for (int child = 0; child < 2; ++child) {
#pragma omp task firstprivate(depth)
    grow_tree(depth - 1);
  }
}

static struct work run_task_tree(long reps) {
  const long nodes = (2L << kTreeDepth) - 1;
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp single
    grow_tree(kTreeDepth);
  }
  return (struct work){reps * (nodes - 1), reps * nodes};
}

static struct work run_task_undeferred(long reps) {
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp task firstprivate(r) if (0)
    touch(r);
  }
  return (struct work){reps, reps * team_size()};
}

static struct work run_task_barrier(long reps) {
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp task firstprivate(r)
    touch(r);
#pragma omp barrier
  }
  return (struct work){reps, reps * team_size()};
}

static struct work run_taskwait(long reps) {
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
    long done = 0;
#pragma omp task firstprivate(r) shared(done)
    {
      touch(r);
      done = 1;
    }
#pragma omp taskwait
    if (!done) report_disorder();
  }
  return (struct work){reps, reps * team_size()};
}

static struct work run_taskgroup(long reps) {
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
    long done = 0;
#pragma omp taskgroup
    {
#pragma omp task firstprivate(r) shared(done)
      {
        touch(r);
        done = 1;
      }
    }
    if (!done) report_disorder();
  }
  return (struct work){reps, reps * team_size()};
}

static struct work run_taskloop(long reps) {
  const unsigned long n = (unsigned long)(kTaskloopLong * opaque_loop_scale);
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp single
    {
#pragma omp taskloop num_tasks(64)
      for (unsigned long i = 0; i < n; ++i) touch((long)i);
    }
  }
  return (struct work){reps, reps * (long)n};
}

static struct work run_taskloop_grain_1(long reps) {
  const unsigned long n = (unsigned long)(kTaskloopShort * opaque_loop_scale);
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp single
    {
#pragma omp taskloop grainsize(1)
      for (unsigned long i = 0; i < n; ++i) touch((long)i);
    }
  }
  return (struct work){reps, reps * (long)n};
}

// --------------------------------------------------------------------------------------------- dependences

// `chains` chains side by side: link i of a chain may run only after link i - 1.
static struct work depend_chains(long reps, int chains) {
  enum { kMostChains = 8, kSpread = 16 };
  long links[kMostChains * kSpread];  // a cache line pair per chain
  for (int c = 0; c < chains; ++c) links[c * kSpread] = 0;
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < reps; ++r) {
    for (long i = 0; i < kDependBatch; ++i) {
      long* link = &links[(i % chains) * kSpread];
      const long turn = r * (kDependBatch / chains) + i / chains;
#pragma omp task firstprivate(link, turn) depend(inout : *link)
      {
        if (*link != turn) report_disorder();
        *link = turn + 1;
        touch(turn);
      }
    }
#pragma omp taskwait
  }
  return (struct work){reps * kDependBatch, reps * kDependBatch};
}

static struct work run_depend_chain(long reps) { return depend_chains(reps, 1); }
static struct work run_depend_chains_8(long reps) { return depend_chains(reps, 8); }

// One writer, then `fan` readers that may run side by side, then the next writer, which waits for all of
// them.
static struct work depend_fan(long reps, int fan) {
  const long rounds = kDependBatch / (fan + 1);
  long generation = 0;
  long readers = 0;
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < reps; ++r) {
    for (long i = 0; i < rounds; ++i) {
      const long turn = r * rounds + i;
#pragma omp task firstprivate(turn, fan) shared(generation, readers) depend(out : generation)
      {
        if (__builtin_expect(verifying, 0)) {
          if (generation != turn || __atomic_load_n(&readers, __ATOMIC_RELAXED) != turn * fan)
            report_disorder();
        }
        generation = turn + 1;
        touch(turn);
      }
      for (int reader = 0; reader < fan; ++reader) {
#pragma omp task firstprivate(turn) shared(generation, readers) depend(in : generation)
        {
          if (generation != turn + 1) report_disorder();
          if (__builtin_expect(verifying, 0)) __atomic_fetch_add(&readers, 1, __ATOMIC_RELAXED);
          touch(turn);
        }
      }
    }
#pragma omp taskwait
  }
  return (struct work){reps * rounds * (fan + 1), reps * rounds * (fan + 1)};
}

static struct work run_depend_fan_2(long reps) { return depend_fan(reps, 2); }
static struct work run_depend_fan_8(long reps) { return depend_fan(reps, 8); }
static struct work run_depend_fan_32(long reps) { return depend_fan(reps, 32); }

// ----------------------------------------------------------------------------------------- nested parallel

static struct work run_nested_parallel(long reps) {
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(2);
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp parallel num_threads(2)
    touch(r);
  }
  omp_set_max_active_levels(levels);
  return (struct work){reps, reps * team_size() * 2};
}

static struct work run_nested_serial(long reps) {
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(1);
#pragma omp parallel
  for (long r = 0; r < reps; ++r) {
#pragma omp parallel num_threads(2)
    touch(r);
  }
  omp_set_max_active_levels(levels);
  return (struct work){reps, reps * team_size()};
}

const struct row constructs[] = {
    {"parallel", "region", "region", true, run_parallel},
    {"parallel for", "region", "region", true, run_parallel_for},
    {"parallel reduction", "region", "region", true, run_parallel_reduction},
    {"barrier", "region", "barrier", true, run_barrier},
    {"single", "region", "construct", true, run_single},
    {"for static", "loop", "loop", true, run_for_static},
    {"for static,8", "loop", "loop of 64", true, run_for_static_chunk},
    {"for dynamic,1", "loop", "loop of 1024", true, run_for_dynamic_1},
    {"for dynamic,8", "loop", "loop of 1024", true, run_for_dynamic_8},
    {"for guided", "loop", "loop of 1024", true, run_for_guided},
    {"for reduction", "loop", "loop", true, run_for_reduction},
    {"ordered", "loop", "iteration", false, run_ordered},
    {"critical", "lock", "entry", false, run_critical},
    {"lock", "lock", "set + unset", false, run_lock},
    {"lock uncontended", "lock", "set + unset", true, run_lock_uncontended},
    {"atomic", "lock", "update", false, run_atomic},
    {"task, one creator", "task", "task", false, run_task_one_creator},
    {"task, all creators", "task", "task", false, run_task_all_creators},
    {"task nested (fib)", "task", "task", false, run_task_nested},
    {"task tree", "task", "task", false, run_task_tree},
    {"task if(0)", "task", "task", true, run_task_undeferred},
    {"task + barrier", "wait", "task + barrier", true, run_task_barrier},
    {"taskwait", "wait", "task + wait", true, run_taskwait},
    {"taskgroup", "wait", "task + group", true, run_taskgroup},
    {"taskloop 64 tasks", "wait", "taskloop of 1024", false, run_taskloop},
    {"taskloop grain 1", "wait", "taskloop of 256", false, run_taskloop_grain_1},
    {"depend chain", "depend", "task", false, run_depend_chain},
    {"depend 8 chains", "depend", "task", false, run_depend_chains_8},
    {"depend fan 2", "depend", "task", false, run_depend_fan_2},
    {"depend fan 8", "depend", "task", false, run_depend_fan_8},
    {"depend fan 32", "depend", "task", false, run_depend_fan_32},
    {"nested parallel", "nested", "inner region", true, run_nested_parallel},
    {"nested serialised", "nested", "inner region", true, run_nested_serial},
};
const int constructs_count = sizeof constructs / sizeof constructs[0];

void constructs_verify(const struct row* row, long reps) {
  touched = 0;
  disorder = 0;
  verifying = 1;
  const struct work work = row->run(reps);
  verifying = 0;
  if (touched != work.touches) {
    bench_fail("%s: its bodies ran %ld times instead of %ld", row->name, touched, work.touches);
  }
  if (disorder) bench_fail("%s: %ld bodies ran in the wrong order", row->name, disorder);
}
