// The clock, the calibration loop, the checks and the output of all benchmark programs; no OpenMP, see
// bench.h.
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSpinSteps = 8000 };  // about 10 us: long enough to catch a neighbour, short enough to repeat

uint64_t bench_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_fail(const char* format, ...) {
  va_list arguments;
  fflush(stdout);
  fputs("bench: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  fflush(stderr);
  _Exit(3);
}

long bench_parse_long(const char* option, const char* text, long low, long high) {
  char* end = NULL;
  errno = 0;
  const long value = text ? strtol(text, &end, 10) : 0;
  if (!text || errno || end == text || *end || value < low || value > high) {
    fprintf(stderr, "bench: %s: \"%s\" is not a whole number from %ld to %ld\n", option, text ? text : "",
            low, high);
    exit(2);
  }
  return value;
}

double bench_spin_once(void) {
  const uint64_t start = bench_now_ns();
  uint64_t x = start | 1;
  for (int i = 0; i < kSpinSteps; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    // Each step waits for the one before, so the loop's time is a property of the core.
    __asm__ volatile("" : "+r"(x));
  }
  return (double)(bench_now_ns() - start);
}

void bench_print_samples(const struct bench_samples* samples) {
  printf("{\"ns\": [");
  for (int i = 0; i < samples->count; ++i) printf("%s%.2f", i ? ", " : "", samples->ns[i]);
  printf("], \"quiet\": %d}", samples->quiet);
}

static int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

double bench_median(const struct bench_samples* samples) {
  double sorted[kBenchMaxSamples];
  if (samples->count == 0) bench_fail("median of no samples");
  memcpy(sorted, samples->ns, sizeof(double) * (size_t)samples->count);
  qsort(sorted, (size_t)samples->count, sizeof(double), compare_doubles);
  const int half = samples->count / 2;
  return samples->count % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
