// One team grows: several teams per node, each with data of its own that it goes through in every step; the first
// team's work grows by half from step to step, up to --growths times. Then two more steps of the same work, of which
// the last one is what tests/numa counts; binds and pages are counted from the first step on.
//
// Each team says what it will use, and how often, where the runtime has the calls (hints.h); a runtime that moves a whole group
// with its data evens this out. `lpt` in the output is the best balance in the end:
// the largest node's load by the mean if teams are dealt to nodes, largest first, each to the least loaded node.
#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "forest.h"
#include "hints.h"

enum { kMostTeams = 1024, kUnit = 4, kStepsAfter = 2 };
static struct forest_option options[] = {{"growths", 3, 0, 8, NULL}, {NULL, 0, 0, 0, NULL}};

static struct {
  word* data;
  size_t length;
} set_of[kMostTeams];

// How often a team goes through its data in a step.
static int sweeps(int team, int step) {
  double result = kUnit;
  for (int growth = 0; team == 0 && growth < step && growth < options[0].value; ++growth) result *= 1.5;
  return (int)(result + 0.5);
}

static void fill(int team) {
#pragma omp parallel for num_threads(forest.threads) schedule(static)
  for (size_t i = 0; i < set_of[team].length; ++i) set_of[team].data[i] = (word)team + i;
}

static void sweep(int team) {
#pragma omp parallel for num_threads(forest.threads) schedule(static)
  for (size_t i = 0; i < set_of[team].length; ++i) set_of[team].data[i] = 5 * set_of[team].data[i] + 1;
}

// For the team that the caller is about to open.
static void say(int team, int step) {
  if (!hints_answered()) return;
  const int status = hearth_mem_attach(set_of[team].data, set_of[team].length * sizeof(word), HEARTH_NEXT_TEAM,
                                       HEARTH_READ_WRITE, sweeps(team, step));
  if (status != 0) forest_fail("hearth_mem_attach: %s", strerror(errno));
}

static void run_step(int step) {
#pragma omp parallel num_threads(forest.teams)
  {
    const int me = omp_get_thread_num();
    say(me, step);
    for (int i = 0; i < sweeps(me, step); ++i) sweep(me);
  }
}

static void check(int team, int steps) {
  word factor = 1, sum = 0;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < sweeps(team, step); ++i) {
      factor *= 5;
      sum = 5 * sum + 1;
    }
  }
  for (size_t i = 0; i < set_of[team].length; ++i) {
    if (set_of[team].data[i] != factor * ((word)team + i) + sum) forest_fail("team %d is wrong at %zu", team, i);
  }
}

// The first team's work is the largest, the others' are alike.
static double best_balance(int step) {
  double load[kMostTeams] = {0}, all = 0;
  const int nodes = forest_nodes();
  for (int team = 0; team < forest.teams; ++team) {
    int least = 0;
    for (int node = 1; node < nodes; ++node) {
      if (load[node] < load[least]) least = node;
    }
    load[least] += sweeps(team, step);
    all += sweeps(team, step);
  }
  double heaviest = 0;
  for (int node = 0; node < nodes; ++node) heaviest = load[node] > heaviest ? load[node] : heaviest;
  return heaviest * nodes / all;
}

static void repeat(void) {
  const int steps = 1 + (int)options[0].value + kStepsAfter;
  const size_t bytes = forest.bytes * (size_t)forest.threads;
  for (int team = 0; team < forest.teams; ++team) {
    set_of[team].data = forest_pages(bytes);
    set_of[team].length = bytes / sizeof(word);
  }
#pragma omp parallel num_threads(forest.teams)
  fill(omp_get_thread_num());

  double all = 0;
  forest_watch();
  const double start = omp_get_wtime();
  for (int step = 0; step < steps; ++step) {
    if (step == steps - 1) forest_begin();
    run_step(step);
    for (int team = 0; team < forest.teams; ++team) all += 2.0 * (double)bytes * sweeps(team, step);
  }
  forest_end();
  const double seconds = omp_get_wtime() - start;

  for (int team = 0; team < forest.teams; ++team) {
    check(team, steps);
    forest_release(set_of[team].data, bytes);
  }
  forest_tell("lpt", best_balance(steps));
  forest_time("steps", all, seconds);
}

int main(int argc, char** argv) {
  return forest_main(argc, argv, &(struct forest_program){"growing", options, 2, repeat});
}
