// A health system as a tree of villages, simulated step by step: every village is a task, its parent waits
// for it and then takes over the patients it could not treat.
//
// A village's lists and random numbers are touched by the task that simulates it, and its `referred` list by
// the parent after the taskwait; so no lock is needed and the outcome is the same in any order. Pointer
// chasing with a little work per task.
#include <stdlib.h>
#include <string.h>

#include "../common/bench.h"
#include "driver.h"

enum { kBranches = 4, kLevels = 5 };  // 341 villages

struct patient {
  struct patient* next;
  int time_left;  // in the present list
  int time_ill;
  int hospitals;
};

struct list {
  struct patient* first;
  struct patient** last;  // where the next one is hung up
};

struct village {
  struct village* children[kBranches];
  int level;  // leaves have level 1
  int free_staff;
  unsigned state;
  struct list healthy;
  struct list waiting;
  struct list assessed;
  struct list treated;
  struct list referred;  // read by the parent
  long cured;
  long days_ill;
};

struct totals {
  long cured, days_ill, people, referrals;
};

static int steps;
static int task_level;  // villages at this level or higher are tasks
static struct village* root;
static struct totals answer;

static void clear(struct list* list) {
  list->first = NULL;
  list->last = &list->first;
}

static void append(struct list* list, struct patient* patient) {
  patient->next = NULL;
  *list->last = patient;
  list->last = &patient->next;
}

static struct patient* take_all(struct list* list) {
  struct patient* first = list->first;
  clear(list);
  return first;
}

// True with a probability of `percent` per cent.
static bool chance(struct village* village, unsigned percent) {
  village->state = village->state * 1664525u + 1013904223u;
  return (village->state >> 8) % 100 < percent;
}

static void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (!memory) bench_fail("health: no memory");
  return memory;
}

static struct village* build(int level, unsigned* identity) {
  struct village* village = allocate(sizeof *village);
  village->level = level;
  village->free_staff = 1 << level;
  village->state = 2654435761u * ++*identity;
  clear(&village->healthy);
  clear(&village->waiting);
  clear(&village->assessed);
  clear(&village->treated);
  clear(&village->referred);
  for (int i = 0; i < 8 * level; ++i) append(&village->healthy, allocate(sizeof(struct patient)));
  for (int c = 0; level > 1 && c < kBranches; ++c) village->children[c] = build(level - 1, identity);
  return village;
}

static void demolish(struct village* village) {
  struct list* lists[] = {&village->healthy, &village->waiting, &village->assessed, &village->treated,
                          &village->referred};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
    for (struct patient* patient = take_all(lists[i]); patient;) {
      struct patient* next = patient->next;
      free(patient);
      patient = next;
    }
  }
  for (int c = 0; village->level > 1 && c < kBranches; ++c) demolish(village->children[c]);
  free(village);
}

static void release(struct village* village, struct patient* patient) {
  ++village->free_staff;
  ++village->cured;
  village->days_ill += patient->time_ill;
  patient->time_ill = 0;
  patient->hospitals = 0;
  append(&village->healthy, patient);
}

// One step of one village; its children have finished theirs.
static void treat(struct village* village) {
  struct patient* next;
  for (struct patient* patient = take_all(&village->treated); patient; patient = next) {
    next = patient->next;
    ++patient->time_ill;
    if (--patient->time_left == 0) {
      release(village, patient);
    } else {
      append(&village->treated, patient);
    }
  }
  for (struct patient* patient = take_all(&village->assessed); patient; patient = next) {
    next = patient->next;
    ++patient->time_ill;
    if (--patient->time_left > 0) {
      append(&village->assessed, patient);
    } else if (village->level == kLevels || !chance(village, 30)) {
      patient->time_left = 4;
      append(&village->treated, patient);
    } else {
      ++village->free_staff;
      ++patient->hospitals;
      append(&village->referred, patient);
    }
  }
  for (int c = 0; village->level > 1 && c < kBranches; ++c) {
    for (struct patient* patient = take_all(&village->children[c]->referred); patient; patient = next) {
      next = patient->next;
      append(&village->waiting, patient);
    }
  }
  for (struct patient* patient = take_all(&village->healthy); patient; patient = next) {
    next = patient->next;
    append(chance(village, 10) ? &village->waiting : &village->healthy, patient);
  }
  for (struct patient* patient = take_all(&village->waiting); patient; patient = next) {
    next = patient->next;
    ++patient->time_ill;
    if (village->free_staff > 0) {
      --village->free_staff;
      patient->time_left = 3;
      append(&village->assessed, patient);
    } else {
      append(&village->waiting, patient);
    }
  }
}

static void simulate_serial(struct village* village) {
  for (int c = 0; village->level > 1 && c < kBranches; ++c) simulate_serial(village->children[c]);
  treat(village);
}

static void simulate(struct village* village) {
  if (village->level < task_level) {
    simulate_serial(village);
    return;
  }
  for (int c = 0; village->level > 1 && c < kBranches; ++c) {
    struct village* child = village->children[c];
#pragma omp task firstprivate(child)
    simulate(child);
  }
#pragma omp taskwait
  treat(village);
}

static void add_up(const struct village* village, struct totals* totals) {
  const struct list* lists[] = {&village->healthy, &village->waiting, &village->assessed, &village->treated,
                                &village->referred};
  totals->cured += village->cured;
  totals->days_ill += village->days_ill;
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
    for (const struct patient* patient = lists[i]->first; patient; patient = patient->next) {
      ++totals->people;
      totals->referrals += patient->hospitals;
    }
  }
  for (int c = 0; village->level > 1 && c < kBranches; ++c) add_up(village->children[c], totals);
}

static void reset(void) {
  unsigned identity = 0;
  if (root) demolish(root);
  root = build(kLevels, &identity);
}

static void prepare(bool cutoff) {
  steps = cutoff ? 300 : 100;
  task_level = cutoff ? 3 : 0;
  reset();
  for (int step = 0; step < steps; ++step) simulate_serial(root);
  add_up(root, &answer);
  if (answer.cured == 0 || answer.referrals == 0) bench_fail("health: nobody was cured or referred");
}

static void run(void) {
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < steps; ++step) simulate(root);
}

static void check(void) {
  struct totals totals = {0, 0, 0, 0};
  add_up(root, &totals);
  if (memcmp(&totals, &answer, sizeof totals) != 0) {
    bench_fail("health: cured %ld, days ill %ld, people %ld, referrals %ld instead of %ld, %ld, %ld, %ld",
               totals.cured, totals.days_ill, totals.people, totals.referrals, answer.cured, answer.days_ill,
               answer.people, answer.referrals);
  }
}

int main(int argc, char** argv) {
  static const struct task_benchmark benchmark = {"health",
                                                  "341 villages, 300 steps, serial below level 3",
                                                  "341 villages, 100 steps, a task per village",
                                                  prepare,
                                                  reset,
                                                  run,
                                                  check};
  return task_benchmark_main(argc, argv, &benchmark);
}
