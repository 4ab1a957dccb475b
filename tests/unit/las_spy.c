// A frame for the benchmarks of bench/las that runs nothing: it prints what they allocate, which tasks they
// create and what these name and touch, for sim_generators_test to compare. Takes the place of las.c, and of
// gcc's OpenMP runtime.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/las/las.h"

enum { kMostAllocations = 4096 };
static struct {
  char* begin;
  size_t bytes;
} allocations[kMostAllocations];
static int allocated;

static const struct las_benchmark* benchmark;

void las_fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

void* las_malloc(size_t bytes) {
  if (allocated == kMostAllocations) las_fail("too many allocations");
  char* begin = malloc(bytes);
  if (begin == NULL) las_fail("no memory");
  allocations[allocated].begin = begin;
  allocations[allocated].bytes = bytes;
  ++allocated;
  printf("allocate %zu\n", bytes);
  return begin;
}

void las_free(void* block) { (void)block; }

static void print_place(const char* what, const void* address) {
  for (int i = 0; i < allocated; ++i) {
    const uintptr_t begin = (uintptr_t)allocations[i].begin;
    if ((uintptr_t)address - begin < allocations[i].bytes) {
      printf("%s %d %zu", what, i, (size_t)((uintptr_t)address - begin));
      return;
    }
  }
  las_fail("an address outside of the allocations");
}

void las_footprint(const void* begin, size_t bytes, int access) {
  print_place("footprint", begin);
  printf(" %zu %d\n", bytes, access);
}

void las_touches(const void* begin, size_t bytes, size_t lines) {
  print_place("touch", begin);
  printf(" %zu %zu\n", bytes, lines);
}

void las_run(struct las_task task) { (void)task; }

// The long form of gcc's depend array, which iterators make, and the short one.
void GOMP_task(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long align,
               bool deferred, unsigned flags, void** depend, int priority, void* detach);
void GOMP_task(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long align,
               bool deferred, unsigned flags, void** depend, int priority, void* detach) {
  (void)function, (void)data, (void)copy, (void)size, (void)align, (void)deferred, (void)flags,
      (void)priority;
  (void)detach;
  const bool is_long = depend[0] == NULL;
  const size_t all = (size_t)depend[is_long ? 1 : 0];
  const size_t out = (size_t)depend[is_long ? 2 : 1];
  void** items = depend + (is_long ? 5 : 2);
  for (size_t i = 0; i < all; ++i) {
    print_place(i < out ? "out" : "in", items[i]);
    putchar('\n');
  }
}

void las_plan(struct las_task task) {
  printf("task %d %d\n", task.kind, task.step);
  benchmark->create(task);
  benchmark->touches(&task);
}

int las_main(int argc, char** argv, const struct las_benchmark* chosen) {
  benchmark = chosen;
  for (int i = 1; i < argc; ++i) {
    for (int a = 0; a < kLasArguments && benchmark->arguments[a].name != NULL; ++a) {
      const size_t length = strlen(benchmark->arguments[a].name);
      if (strncmp(argv[i], benchmark->arguments[a].name, length) == 0 && argv[i][length] == '=')
        benchmark->arguments[a].value = atol(argv[i] + length + 1);
    }
  }
  benchmark->prepare();
  benchmark->plan();
  return 0;
}
