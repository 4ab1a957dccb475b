/* What the planted faults are caught in: one part of OpenMP for each argument. Right results are not its business; a
 * library with a fault in that part aborts with an assertion, a sound one lets it end with 0.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hearth/hearth.h"

static volatile long sink;

static void part_locks(void) {
  long sum = 0;
#pragma omp parallel num_threads(3) shared(sum)
  for (int i = 0; i < 200; i++) {
#pragma omp critical
    {
      sum++;
      if (i % 10 == 0) usleep(300); /* so long that the others sleep */
    }
  }
  sink = sum;
}

/* Every member creates, and all run each other's tasks: descriptors of many homes travel. */
static void part_tasks(void) {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(i)
      for (int k = 0; k < 200; k++) sink = i + k;
    }
#pragma omp barrier
  }
}

static void part_depend(void) {
  int x = 0, y[8] = {0};
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 2000; i++) {
#pragma omp task depend(inout : x) depend(in : y[i % 8])
    x++;
#pragma omp task depend(inout : y[i % 8]) depend(in : x)
    y[i % 8]++;
  }
}

/* On a machine with several nodes tasks with dependences go to where their data is. */
static void part_dealing(void) {
  enum { kBlocks = 64, kBytes = 1 << 16 };
  char* blocks = omp_malloc_specific((size_t)kBlocks * kBytes, OMP_MALLOC_FINE);
#pragma omp parallel num_threads(8)
#pragma omp single
  for (int round = 0; round < 20; round++) {
    for (int b = 0; b < kBlocks; b++) {
      char* block = blocks + (size_t)b * kBytes;
#pragma omp task depend(inout : block[0]) firstprivate(round)
      memset(block, round, kBytes);
    }
#pragma omp taskwait
  }
  omp_malloc_free(blocks);
}

static void part_loops(void) {
  long sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  for (int round = 0; round < 20; round++) {
#pragma omp for schedule(guided, 7) nowait
    for (int i = 0; i < 1000; i++) sum += i;
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 1000; i++) sum += i;
  }
  sink = sum;
}

static void part_barriers(void) {
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 50; i++) {
#pragma omp barrier
  }
}

static void* alone(void* arg) {
#pragma omp parallel num_threads(1)
  sink = 1;
  return arg;
}

/* A thread that comes, runs a region of its own and ends. */
static void part_threads(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, alone, NULL);
    pthread_join(thread, NULL);
  }
}

static void part_memory(void) {
  for (size_t size = 1000; size < ((size_t)1 << 25); size *= 4) {
    void* fine = omp_malloc_specific(size, OMP_MALLOC_FINE);
    void* coarse = omp_malloc_specific(size, OMP_MALLOC_COARSE);
    memset(fine, 1, size);
    memset(coarse, 1, size);
    omp_malloc_free(fine);
    omp_malloc_free(coarse);
  }
}

static void part_regions(void) {
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
    sink = i;
  }
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"locks", part_locks},     {"tasks", part_tasks},   {"depend", part_depend},
               {"dealing", part_dealing}, {"loops", part_loops},   {"barriers", part_barriers},
               {"threads", part_threads}, {"memory", part_memory}, {"regions", part_regions}};
  for (unsigned i = 0; i < sizeof parts / sizeof parts[0] && argc == 2; i++) {
    if (strcmp(argv[1], parts[i].name) == 0) {
      parts[i].run();
      return 0;
    }
  }
  fprintf(stderr, "usage: program locks|tasks|depend|dealing|loops|barriers|threads|memory|regions\n");
  return 2;
}
