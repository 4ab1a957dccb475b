// The nested programs of bench/forest, as what their bytes cost: STREAM, Nested-STREAM, Twisted-STREAM with its plans,
// and zones of unequal sizes. A loop's iteration is a block of each vector.
//
//   teams PROGRAM [--mb N] [--passes N] [--plan WORD] [--remote 2|3] [--when now|touch]
//
// A line of JSON per figure: row, MB/s or milliseconds of the pretended machine.
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../forest/hints.h"
#include "pretend.h"

enum { kMostTeams = 64 };

static struct {
  size_t vector_bytes;  // of all teams together
  int passes;
  const char* plan;
  int remote;
  bool touch;
} options = {160 * 1000000, 2, "stay", 3, false};

struct vectors {
  char *a, *b, *c;
  size_t bytes;  // of each
};

struct kernel {
  const char* name;
  int vectors;
};
static const struct kernel kKernels[] = {{"copy", 2}, {"scale", 2}, {"add", 3}, {"triad", 3}};
enum { kKernelCount = 4, kTriad = 3 };

static struct vectors vectors_new(size_t bytes) {
  bytes -= bytes % kBlock;
  return (struct vectors){pretend_pages(bytes), pretend_pages(bytes), pretend_pages(bytes), bytes};
}

// The part of a vector of so many bytes that a member of a team works on, in whole blocks, as schedule(static) cuts.
struct part {
  size_t begin, bytes;
};
static struct part part_of(size_t bytes, int me, int of) {
  const size_t blocks = bytes / kBlock, least = blocks / (size_t)of, more = blocks % (size_t)of, at = (size_t)me;
  const size_t begin = at * least + (at < more ? at : more);
  return (struct part){begin * kBlock, (least + (at < more)) * kBlock};
}

static void fill(struct vectors v, int threads) {
#pragma omp parallel num_threads(threads)
  {
    const struct part mine = part_of(v.bytes, omp_get_thread_num(), omp_get_num_threads());
    pretend_touch(v.a + mine.begin, mine.bytes);
    pretend_touch(v.b + mine.begin, mine.bytes);
    pretend_touch(v.c + mine.begin, mine.bytes);
  }
}

// copy: c = a, scale: b = c, add: c = a + b, triad: a = b + c.
static void run_kernel(struct vectors v, int which, int threads) {
  const long blocks = (long)(v.bytes / kBlock);
#pragma omp parallel num_threads(threads)
  {
    pretend_arrive();
#pragma omp for schedule(static)
    for (long i = 0; i < blocks; ++i) {
      const char *a = v.a + i * kBlock, *b = v.b + i * kBlock, *c = v.c + i * kBlock;
      const struct pretend_piece pieces[] = {{which == 0 || which == 2 ? a
                                              : which == 1             ? c
                                                                       : b,
                                              kBlock, false},
                                             {which == 3   ? a
                                              : which == 1 ? b
                                                           : c,
                                              kBlock, true},
                                             {which == 2 ? b : c, kBlock, false}};
      pretend_use_all(pieces, kKernels[which].vectors);
    }
  }
}

static void say_rate(const char* row, double bytes, double seconds) {
  printf("{\"row\":\"%s\",\"mbs\":%.1f,\"ms\":%.3f}\n", row, bytes / seconds / 1e6, seconds * 1e3);
}

static void stream(void) {
  const int threads = pretend_cores();
  const struct vectors v = vectors_new(options.vector_bytes);
  fill(v, threads);
  double seconds[kKernelCount] = {0};
  for (int pass = 0; pass < options.passes; ++pass) {
    for (int k = 0; k < kKernelCount; ++k) {
      const double start = pretend_seconds();
      run_kernel(v, k, threads);
      seconds[k] += pretend_seconds() - start;
    }
  }
  for (int k = 0; k < kKernelCount; ++k)
    say_rate(kKernels[k].name, (double)v.bytes * kKernels[k].vectors * options.passes, seconds[k]);
}

static struct vectors of_team[kMostTeams];

static void fill_teams(void) {
#pragma omp parallel num_threads(pretend_nodes())
  {
    const int me = omp_get_thread_num();
    of_team[me] = vectors_new(options.vector_bytes / (size_t)pretend_nodes());
    fill(of_team[me], pretend_cores() / pretend_nodes());
  }
}

static double team_bytes(void) { return (double)of_team[0].bytes * pretend_nodes(); }

static void nested(void) {
  static double seconds[kKernelCount];
  fill_teams();
#pragma omp parallel num_threads(pretend_nodes())
  {
    for (int pass = 0; pass < options.passes; ++pass) {
      for (int k = 0; k < kKernelCount; ++k) {
        double start = 0;
#pragma omp barrier
#pragma omp masked
        start = pretend_seconds();
        run_kernel(of_team[omp_get_thread_num()], k, pretend_cores() / pretend_nodes());
#pragma omp barrier
#pragma omp masked
        seconds[k] += pretend_seconds() - start;
      }
    }
  }
  for (int k = 0; k < kKernelCount; ++k)
    say_rate(kKernels[k].name, team_bytes() * kKernels[k].vectors * options.passes, seconds[k]);
}

static void expect(int status, const char* call) {
  if (status == 0 || errno == EALREADY || errno == ENOENT) return;
  perror(call);
  exit(3);
}

static void attach(char* at, size_t bytes, int access) {
  expect(hearth_mem_attach(at, bytes, HEARTH_THREAD, access, options.passes), "hearth_mem_attach");
}

static void fetch(char* at, size_t bytes, int access) {
  if (!options.touch) {
    expect(hearth_mem_migrate(at, bytes, hearth_location()), "hearth_mem_migrate");
    return;
  }
  expect(hearth_mem_next_touch(at, bytes, HEARTH_TOUCH_ANNOUNCED), "hearth_mem_next_touch");
  attach(at, bytes, access);
}

// What bench/forest/twisted_stream.c says, each member of a team for its part.
static void say(struct vectors v) {
  const struct part mine = part_of(v.bytes, omp_get_thread_num(), omp_get_num_threads());
  char *a = v.a + mine.begin, *b = v.b + mine.begin, *c = v.c + mine.begin;
  const bool choose = strcmp(options.plan, "choose") == 0, threads = strcmp(options.plan, "threads") == 0,
             mixed = strcmp(options.plan, "mixed") == 0, all = strcmp(options.plan, "all") == 0;
  if (choose || threads || mixed) {
    if (choose || options.remote == 3) attach(c, mine.bytes, HEARTH_READ);
    attach(b, mine.bytes, HEARTH_READ);
    expect(hearth_affinity(a, mine.bytes, HEARTH_WRITE, HEARTH_WHEN_ALL), "hearth_affinity");
  }
  if (mixed) {
#pragma omp barrier
    if (options.remote == 2) attach(c, mine.bytes, HEARTH_READ);
    expect(hearth_mem_follow(HEARTH_THREAD), "hearth_mem_follow");
  }
  if (all || strcmp(options.plan, "written") == 0) fetch(a, mine.bytes, HEARTH_WRITE);
  if (all || strcmp(options.plan, "read") == 0) fetch(b, mine.bytes, HEARTH_READ);
  if (all && options.remote == 3) fetch(c, mine.bytes, HEARTH_READ);
}

// With what the hints take.
static double phase(bool twisted) {
  const int threads = pretend_cores() / pretend_nodes();
  pretend_forget();
  if (twisted && strcmp(options.plan, "stay") != 0) pretend_expect_moves();
  const double start = pretend_seconds();
#pragma omp parallel num_threads(pretend_nodes())
  {
    const int me = omp_get_thread_num();
    struct vectors v = of_team[twisted ? (me + 1) % pretend_nodes() : me];
    if (twisted && options.remote == 2) v.c = of_team[me].c;
    if (twisted && strcmp(options.plan, "stay") != 0) {
#pragma omp parallel num_threads(threads)
      say(v);
    }
    for (int pass = 0; pass < options.passes; ++pass) run_kernel(v, kTriad, threads);
  }
  return pretend_seconds() - start;
}

static void twisted(void) {
  fill_teams();
  const double bytes = team_bytes() * 3 * options.passes;
  say_rate("phase 1", bytes, phase(false));
  say_rate(strcmp(options.plan, "stay") == 0 ? "phase 2" : "with hints", bytes, phase(true));
}

// Zones of sizes 1 : 20, dealt to the outer team, largest first to the least loaded member, whose nested teams have
// threads by their load, as in bench/forest/zones.c. Two members per node.
enum { kZones = 16, kRatio = 20 };
static struct {
  char *now, *next;
  size_t bytes;
  int member;
} zones[kZones];

static void zones_program(void) {
  const int members = 2 * pretend_nodes();
  int threads_of[kMostTeams];
  double load[kMostTeams] = {0}, size = 1, sum = 0, step = 1;
  for (double low = 1, high = 2, i = 0; i < 60; ++i) {  // the 15th root of 20
    step = (low + high) / 2;
    double power = 1;
    for (int k = 1; k < kZones; ++k) power *= step;
    if (power > kRatio)
      high = step;
    else
      low = step;
  }
  for (int z = 0; z < kZones; ++z, size *= step) sum += size;
  size = 1;
  for (int z = 0; z < kZones; ++z, size *= step) {
    zones[z].bytes = (size_t)((double)options.vector_bytes * size / sum / kBlock) * kBlock;
    zones[z].now = pretend_pages(zones[z].bytes);
    zones[z].next = pretend_pages(zones[z].bytes);
  }
  for (int z = kZones - 1; z >= 0; --z) {
    int least = 0;
    for (int m = 1; m < members; ++m) least = load[m] < load[least] ? m : least;
    zones[z].member = least;
    load[least] += (double)zones[z].bytes;
  }
  for (int m = 0; m < members; ++m) threads_of[m] = 1;
  for (int left = pretend_cores() - members; left > 0; --left) {
    int busiest = 0;
    for (int m = 1; m < members; ++m)
      busiest = load[m] / threads_of[m] > load[busiest] / threads_of[busiest] ? m : busiest;
    ++threads_of[busiest];
  }
  double start = 0, bytes = 0;
  for (int z = 0; z < kZones; ++z) bytes += 2.0 * (double)zones[z].bytes * options.passes;
#pragma omp parallel num_threads(members)
  {
    const int me = omp_get_thread_num();
    for (int z = 0; z < kZones; ++z) {
      if (zones[z].member != me) continue;
#pragma omp parallel num_threads(threads_of[me])
      {
        const struct part mine = part_of(zones[z].bytes, omp_get_thread_num(), omp_get_num_threads());
        pretend_touch(zones[z].now + mine.begin, mine.bytes);
        pretend_touch(zones[z].next + mine.begin, mine.bytes);
      }
    }
#pragma omp barrier
#pragma omp masked
    start = pretend_seconds();
    for (int pass = 0; pass < options.passes; ++pass) {
      for (int z = 0; z < kZones; ++z) {
        if (zones[z].member != me) continue;
        const long blocks = (long)(zones[z].bytes / kBlock);
#pragma omp parallel num_threads(threads_of[me])
        {
          pretend_arrive();
#pragma omp for schedule(static)
          for (long i = 0; i < blocks; ++i) {
            const struct pretend_piece pieces[] = {{zones[z].now + i * kBlock, kBlock, false},
                                                   {zones[z].next + i * kBlock, kBlock, true}};
            pretend_use_all(pieces, 2);
          }
        }
      }
#pragma omp barrier
    }
  }
  say_rate("zones", bytes, pretend_seconds() - start);
}

static void say_counts(void) {
  printf("{\"pages\":%llu,\"memory\":[", (unsigned long long)pretend_moved_pages());
  for (int node = 0; node < pretend_nodes(); ++node) {
    for (int home = 0; home < pretend_nodes(); ++home)
      printf("%s%llu", home > 0 ? "," : node > 0 ? "],[" : "[", (unsigned long long)pretend_bytes(node, home));
  }
  printf("]]}\n");
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } programs[] = {{"stream", stream}, {"nested", nested}, {"twisted", twisted}, {"zones", zones_program}};
  for (int i = 2; i + 1 < argc; i += 2) {
    const char* value = argv[i + 1];
    if (strcmp(argv[i], "--mb") == 0)
      options.vector_bytes = strtoul(value, NULL, 10) * 1000000;
    else if (strcmp(argv[i], "--passes") == 0)
      options.passes = atoi(value);
    else if (strcmp(argv[i], "--plan") == 0)
      options.plan = value;
    else if (strcmp(argv[i], "--remote") == 0)
      options.remote = atoi(value);
    else if (strcmp(argv[i], "--when") == 0)
      options.touch = strcmp(value, "touch") == 0;
    else
      return 2;
  }
  for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; ++i) {
    if (strcmp(argv[1], programs[i].name) != 0) continue;
    pretend_open();
    omp_set_max_active_levels(2);
    programs[i].run();
    say_counts();
    return 0;
  }
  fprintf(
      stderr,
      "usage: teams stream|nested|twisted|zones [--mb N] [--passes N] [--plan WORD] [--remote 2|3] [--when now|touch]\n");
  return 2;
}
