// Tasks that say nothing of their data, on a machine of eight nodes: those of a construct that comes again go where their
// arguments point to, or where the last ones with the same arguments ran; each task runs once whatever the runtime concludes.
// env: HEARTH_MACHINE=opteron-6172x4
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBlocks = 64, kRounds = 8, kBytes = 64 * 1024, kNodes = 8 };

static char* blocks[kBlocks];
static int runs[kBlocks];
static int ran_on[kRounds][kBlocks];

static void sleep_a_while(void) {
  const struct timespec half_a_ms = {0, 500000};
  nanosleep(&half_a_ms, NULL);
}

// Threads without places are dealt round over the nodes.
static int node_here(void) { return omp_get_thread_num() * kNodes / omp_get_num_threads(); }

static void use(int round, int b) {
#pragma omp atomic
  runs[b] += 1;
  ran_on[round][b] = node_here();
  blocks[b][round] += 1;
  sleep_a_while();
}

// The pages are placed by whoever runs the block's first task.
static void by_pointer(int round) {
  for (int b = 0; b < kBlocks; ++b) {
    char* block = blocks[b * 37 % kBlocks];
    int number = b * 37 % kBlocks;
#pragma omp task firstprivate(block, number, round)
    use(round, number + (block == NULL));
  }
#pragma omp taskwait
}

// Nothing but a number tells which data it is.
static void by_number(int round) {
  for (int b = 0; b < kBlocks; ++b) {
#pragma omp task firstprivate(b) shared(round)
    use(round, b);
  }
#pragma omp taskwait
}

// How many of a round's tasks ran where those of the round before had.
static int stayed(int round) {
  int count = 0;
  for (int b = 0; b < kBlocks; ++b) count += ran_on[round][b] == ran_on[round - 1][b];
  return count;
}

static int check(const char* what, void (*one_round)(int)) {
  memset(runs, 0, sizeof runs);
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < kRounds; ++round) one_round(round);
  for (int b = 0; b < kBlocks; ++b) {
    if (runs[b] == kRounds) continue;
    printf("%s: block %d was used %d times, expected %d\n", what, b, runs[b], kRounds);
    return 1;
  }
  // Chance lets one in `threads` stay.
  if (omp_get_max_threads() < 8 || getenv("HEARTH_TEST_STOCK") != NULL) return 0;
  int most = 0;
  for (int round = 3; round < kRounds; ++round) most = stayed(round) > most ? stayed(round) : most;
  if (5 * most >= 3 * kBlocks) return 0;
  printf("%s: of %d tasks only %d ran where they had run before, in the best round\n", what, kBlocks, most);
  return 1;
}

int main(void) {
  for (int b = 0; b < kBlocks; ++b) {
    blocks[b] = malloc(kBytes);
    if (blocks[b] == NULL) return 1;
    memset(blocks[b], 0, kBytes);
  }
  const int wrong = check("by pointer", by_pointer) | check("by number", by_number);
  for (int b = 0; b < kBlocks; ++b) free(blocks[b]);
  return wrong;
}
