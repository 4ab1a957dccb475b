// Twisted-STREAM (Broquedis et al. 2009, section 4.4): phase 1 is Nested-STREAM's triad; in phase 2 each team works on
// the data of the next one, on all three vectors or on two of them (the written one and one that is read). Phase 2 is
// what is counted.
//
// --plan says what the program asks of the runtime between the phases (figures 2 and 3 of the paper):
//   stay     nothing
//   choose   each thread says what it will use; the runtime does what it likes
//   threads  the same, of the remote vectors only: threads go where they are
//   mixed    threads go there, and the vector that was local follows
//   all, read, written   the remote vectors, or one of them, move to the threads; --when says when and how
// Where the runtime has no such calls every plan is `stay`.
#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "hints.h"
#include "region.h"
#include "vectors.h"

enum plan { kStay, kChoose, kThreads, kMixed, kAll, kRead, kWritten };
static const char* const kPlans[] = {"stay", "choose", "threads", "mixed", "all", "read", "written", NULL};
enum when { kNow, kTouch, kTrap };
static const char* const kWhen[] = {"now", "touch", "trap", NULL};
enum by { kByThread, kByTeam };
static const char* const kBy[] = {"thread", "team", NULL};

enum { kRemote, kPlan, kMove, kSay };
static struct forest_option options[] = {{"remote", 3, 2, 3, NULL},
                                         {"plan", kStay, 0, 0, kPlans},
                                         {"when", kNow, 0, 0, kWhen},
                                         {"say", kByThread, 0, 0, kBy},
                                         {NULL, 0, 0, 0, NULL}};

struct part {
  void* begin;
  size_t bytes;
};

static struct part part_of(word* vector, size_t length, int me, int of) {
  const struct forest_range range = forest_part(length, me, of);
  return (struct part){vector + range.begin, (range.end - range.begin) * sizeof(word)};
}

// Memory that is there already is no failure, nor is it that nothing was attached, as on a machine of one location.
static void expect(int status, const char* call) {
  if (status != 0 && errno != EALREADY && errno != ENOENT) forest_fail("%s: %s", call, strerror(errno));
}

static void attach(struct part part, int who, int access) {
  expect(hearth_mem_attach(part.begin, part.bytes, who, access, forest.passes), "hearth_mem_attach");
}

// The caller's part of this vector comes to the caller: now, or when it touches it, which an attachment announces.
static void fetch(struct part part, int access) {
  if (options[kMove].value == kNow) {
    expect(hearth_mem_migrate(part.begin, part.bytes, hearth_location()), "hearth_mem_migrate");
    return;
  }
  const bool trap = options[kMove].value == kTrap;
  expect(hearth_mem_next_touch(part.begin, part.bytes, trap ? HEARTH_TOUCH_TRAP : HEARTH_TOUCH_ANNOUNCED),
         "hearth_mem_next_touch");
  if (!trap) attach(part, HEARTH_THREAD, access);
}

// Each member of a team, for its part of what it will use. The last call puts in force what was said, when all have.
static void say_as_thread(struct vectors v, enum plan plan) {
  const int me = omp_get_thread_num(), of = omp_get_num_threads();
  const struct part a = part_of(v.a, v.length, me, of), b = part_of(v.b, v.length, me, of),
                    c = part_of(v.c, v.length, me, of);
  const bool remote_c = options[kRemote].value == 3;
  if (plan == kChoose || plan == kThreads || plan == kMixed) {
    if (plan == kChoose || remote_c) attach(c, HEARTH_THREAD, HEARTH_READ);
    attach(b, HEARTH_THREAD, HEARTH_READ);
    expect(hearth_affinity(a.begin, a.bytes, HEARTH_WRITE, HEARTH_WHEN_ALL), "hearth_affinity");
  }
  if (plan == kMixed) {
#pragma omp barrier
    if (!remote_c) attach(c, HEARTH_THREAD, HEARTH_READ);
    expect(hearth_mem_follow(HEARTH_THREAD), "hearth_mem_follow");
  }
  if (plan == kAll || plan == kWritten) fetch(a, HEARTH_WRITE);
  if (plan == kAll || plan == kRead) fetch(b, HEARTH_READ);
  if (plan == kAll && remote_c) fetch(c, HEARTH_READ);
}

// A member of the outer team, for the team that it will make: before that region, so its threads can be born there.
static void say_as_team(struct vectors v, enum plan plan) {
  const size_t bytes = v.length * sizeof(word);
  attach((struct part){v.a, bytes}, HEARTH_NEXT_TEAM, HEARTH_WRITE);
  attach((struct part){v.b, bytes}, HEARTH_NEXT_TEAM, HEARTH_READ);
  if (plan == kChoose || options[kRemote].value == 3) attach((struct part){v.c, bytes}, HEARTH_NEXT_TEAM, HEARTH_READ);
}

// A member of the outer team closes what its team will touch.
static void close_vectors(struct vectors v, enum plan plan) {
  const size_t bytes = v.length * sizeof(word);
  if (plan != kRead) fetch((struct part){v.a, bytes}, HEARTH_WRITE);
  if (plan != kWritten) fetch((struct part){v.b, bytes}, HEARTH_READ);
  if (plan == kAll && options[kRemote].value == 3) fetch((struct part){v.c, bytes}, HEARTH_READ);
}

static void say(struct vectors v) {
  const enum plan plan = (enum plan)options[kPlan].value;
  const bool only_moves = plan >= kAll && options[kMove].value != kTouch;
  if (plan == kStay || !(only_moves ? moves_answered() : hints_answered())) return;
  if (only_moves && options[kMove].value == kTrap) {  // closed until the end of the region: not of one of its own
    close_vectors(v, plan);
    return;
  }
  if (options[kSay].value == kByTeam && (plan == kChoose || plan == kThreads)) {
    say_as_team(v, plan);
    return;
  }
#pragma omp parallel num_threads(forest.threads)
  say_as_thread(v, plan);
}

static double phase(const struct vectors* of_team, bool hints) {
  double start = 0;
#pragma omp parallel num_threads(forest.teams)
  {
    const struct vectors v = of_team[omp_get_thread_num()];
    if (hints) say(v);
#pragma omp barrier
#pragma omp masked
    start = omp_get_wtime();
    for (int pass = 0; pass < forest.passes; ++pass) triad(v, forest.threads);
  }
  return omp_get_wtime() - start;
}

static void repeat(void) {
  const int teams = forest.teams;
  struct vectors* own = malloc((size_t)teams * sizeof *own);
  struct vectors* twisted = malloc((size_t)teams * sizeof *twisted);
  if (own == NULL || twisted == NULL) forest_fail("no memory");
#pragma omp parallel num_threads(teams)
  {
    const int me = omp_get_thread_num();
    own[me] = vectors_new(forest.threads);
    vectors_fill(own[me], forest.threads);
  }
  for (int team = 0; team < teams; ++team) {
    const struct vectors next = own[(team + 1) % teams];
    twisted[team] = next;
    if (options[kRemote].value == 2) twisted[team].c = own[team].c;
  }

  NUMA_CLOCK_BEGIN();
  const double first = phase(own, false);
  NUMA_CLOCK_END();
  forest_begin();
  const double start = omp_get_wtime();
  const double second = phase(twisted, true);
  const double hints = omp_get_wtime() - start - second;
  forest_end();

  const struct factors wanted = {kFirst.b + kScalar * kFirst.c, kFirst.b, kFirst.c};
  double bytes = 0;
  for (int team = 0; team < teams; ++team) {
    vectors_check(own[team], wanted);
    bytes += 3.0 * (double)own[team].length * sizeof(word) * forest.passes;
    vectors_release(own[team]);
  }
  forest_time("phase 1", bytes, first);
  forest_time("phase 2", bytes, second);
  forest_time("with hints", bytes, second + hints);
  free(own);
  free(twisted);
}

int main(int argc, char** argv) {
  return forest_main(argc, argv, &(struct forest_program){"twisted_stream", options, 2, repeat});
}
