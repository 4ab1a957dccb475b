// Zones of unequal size, as NPB multi-zone's BT-MZ: the sizes of `--zones` zones form a geometric series, the last is
// `--ratio` times the first. The program spreads the zones over the outer team, largest first to the least loaded
// member, and gives each member's nested team threads by its load: at least one, together teams x threads.
//
// A step: each zone takes the border rows of its neighbours, then a nested region computes its new rows from the old
// ones. A row is a page, so no page has two homes. `lpt` in the output is the best balance of the outer team's members
// over the NUMA nodes: the largest node's load by the mean, by the same rule.
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "forest.h"

enum { kColumns = 512, kMostZones = 256 };
enum { kZones, kRatio };
static struct forest_option options[] = {
    {"zones", 16, 1, kMostZones, NULL}, {"ratio", 20, 1, 1000, NULL}, {NULL, 0, 0, 0, NULL}};

struct zone {
  word* now;  // rows 0 and rows + 1 are the neighbours'
  word* next;
  size_t rows;
  int member;  // of the outer team
};
static struct zone zones[kMostZones];
static int zone_count;
static int threads_of[kMostZones];  // of a member's nested team

static size_t bytes_of(const struct zone* zone) { return (zone->rows + 2) * kColumns * sizeof(word); }

// Deals loads to bins, largest first, each to the least loaded bin; returns the heaviest bin's load.
static double deal(const double* loads, int count, int bins, int* bin_of) {
  double filled[kMostZones] = {0};
  bool done[kMostZones] = {false};
  double heaviest = 0;
  for (int turn = 0; turn < count; ++turn) {
    int largest = -1, least = 0;
    for (int i = 0; i < count; ++i) {
      if (!done[i] && (largest < 0 || loads[i] > loads[largest])) largest = i;
    }
    for (int bin = 1; bin < bins; ++bin) {
      if (filled[bin] < filled[least]) least = bin;
    }
    done[largest] = true;
    filled[least] += loads[largest];
    if (bin_of != NULL) bin_of[largest] = least;
    if (filled[least] > heaviest) heaviest = filled[least];
  }
  return heaviest;
}

// One thread for each member, the others one by one to the member that has most rows per thread.
static void choose_threads(const double* load, int members) {
  for (int m = 0; m < members; ++m) threads_of[m] = 1;
  for (int left = forest.teams * forest.threads - members; left > 0; --left) {
    int busiest = 0;
    for (int m = 1; m < members; ++m) {
      if (load[m] / threads_of[m] > load[busiest] / threads_of[busiest]) busiest = m;
    }
    ++threads_of[busiest];
  }
}

static int plan(void) {
  zone_count = (int)options[kZones].value;
  const int members = forest.teams < zone_count ? forest.teams : zone_count;
  const double step = zone_count > 1 ? pow((double)options[kRatio].value, 1.0 / (zone_count - 1)) : 1;
  double sizes[kMostZones] = {0}, size = 1, sum = 0;
  for (int z = 0; z < zone_count; ++z, size *= step) sum += sizes[z] = size;
  const double rows = (double)forest.bytes * forest.teams * forest.threads / (kColumns * sizeof(word));
  for (int z = 0; z < zone_count; ++z) {
    zones[z].rows = (size_t)fmax(1, round(rows * sizes[z] / sum));
    sizes[z] = (double)zones[z].rows;
  }
  int member_of[kMostZones];
  deal(sizes, zone_count, members, member_of);
  double load[kMostZones] = {0}, all = 0;
  for (int z = 0; z < zone_count; ++z) {
    zones[z].member = member_of[z];
    load[member_of[z]] += sizes[z];
    all += sizes[z];
  }
  choose_threads(load, members);
  forest_tell("lpt", deal(load, members, forest_nodes(), NULL) * forest_nodes() / all);
  return members;
}

static word initial(int zone, size_t row, size_t column) { return (word)zone * 1000003 + row * 257 + column; }

static void fill_row(int z, size_t row) {
  for (size_t column = 0; column < kColumns; ++column) {
    zones[z].now[row * kColumns + column] = initial(z, row, column);
    zones[z].next[row * kColumns + column] = 0;
  }
}

static void compute_row(const struct zone* zone, size_t row) {
  const word* above = zone->now + (row - 1) * kColumns;
  const word* at = zone->now + row * kColumns;
  const word* below = zone->now + (row + 1) * kColumns;
  word* next = zone->next + row * kColumns;
  for (size_t j = 0; j < kColumns; ++j)
    next[j] = 3 * at[j] + above[j] + below[j] + at[(j + kColumns - 1) % kColumns] + at[(j + 1) % kColumns];
}

// The border rows of the neighbours, in a ring.
static void take_borders(int z) {
  const struct zone* before = &zones[(z + zone_count - 1) % zone_count];
  const struct zone* after = &zones[(z + 1) % zone_count];
  memcpy(zones[z].now, before->now + before->rows * kColumns, kColumns * sizeof(word));
  memcpy(zones[z].now + (zones[z].rows + 1) * kColumns, after->now + kColumns, kColumns * sizeof(word));
}

static void turn(struct zone* zone) {
  word* now = zone->now;
  zone->now = zone->next;
  zone->next = now;
}

static void allocate(void) {
  for (int z = 0; z < zone_count; ++z) {
    zones[z].now = forest_pages(bytes_of(&zones[z]));
    zones[z].next = forest_pages(bytes_of(&zones[z]));
  }
}

static word release(void) {
  word sum = 0;
  for (int z = 0; z < zone_count; ++z) {
    for (size_t i = kColumns; i < (zones[z].rows + 1) * kColumns; ++i) sum = sum * 31 + zones[z].now[i];
    forest_release(zones[z].now, bytes_of(&zones[z]));
    forest_release(zones[z].next, bytes_of(&zones[z]));
  }
  return sum;
}

// The same without OpenMP.
static word reference(void) {
  allocate();
  for (int z = 0; z < zone_count; ++z) {
    for (size_t row = 0; row < zones[z].rows + 2; ++row) fill_row(z, row);
  }
  for (int pass = 0; pass < forest.passes; ++pass) {
    for (int z = 0; z < zone_count; ++z) take_borders(z);
    for (int z = 0; z < zone_count; ++z) {
      for (size_t row = 1; row <= zones[z].rows; ++row) compute_row(&zones[z], row);
      turn(&zones[z]);
    }
  }
  return release();
}

static void fill(int z, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t row = 0; row < zones[z].rows + 2; ++row) fill_row(z, row);
}

static void compute(int z, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t row = 1; row <= zones[z].rows; ++row) compute_row(&zones[z], row);
  turn(&zones[z]);
}

static void run(int members) {
#pragma omp parallel num_threads(members)
  {
    const int me = omp_get_thread_num();
    for (int pass = 0; pass < forest.passes; ++pass) {
      for (int z = 0; z < zone_count; ++z) {
        if (zones[z].member == me) take_borders(z);
      }
#pragma omp barrier
      for (int z = 0; z < zone_count; ++z) {
        if (zones[z].member == me) compute(z, threads_of[me]);
      }
#pragma omp barrier
    }
  }
}

static void repeat(void) {
  static word wanted;
  static bool known;
  const int members = plan();
  if (!known) wanted = reference();
  known = true;
  allocate();
#pragma omp parallel num_threads(members)
  for (int z = 0; z < zone_count; ++z) {
    if (zones[z].member == omp_get_thread_num()) fill(z, threads_of[zones[z].member]);
  }
  double bytes = 0;
  for (int z = 0; z < zone_count; ++z) bytes += 2.0 * (double)bytes_of(&zones[z]) * forest.passes;

  forest_begin();
  const double start = omp_get_wtime();
  run(members);
  const double seconds = omp_get_wtime() - start;
  forest_end();

  if (release() != wanted) forest_fail("wrong result");
  forest_time("zones", bytes, seconds);
}

int main(int argc, char** argv) {
  return forest_main(argc, argv, &(struct forest_program){"zones", options, 2, repeat});
}
