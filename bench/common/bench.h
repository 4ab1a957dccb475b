// What every benchmark program shares: a clock, the calibration loop, samples printed as JSON, checks that
// stop a wrong run. Free of OpenMP, so that the programs which measure the machine itself load no runtime.
//
// Nothing here is timed: samples are taken around the workload, never around these calls. bench_spin_once()
// and the clock may be called by any thread, the rest by the main thread outside regions.
#pragma once

#include <stdint.h>

enum { kBenchMaxSamples = 256 };

// Samples of one row. `quiet` counts those that were preceded by a quiet moment; the rest were taken after
// waiting in vain.
struct bench_samples {
  double ns[kBenchMaxSamples];
  int count;
  int quiet;
};

uint64_t bench_now_ns(void);

// Reports what was wrong on stderr and ends the process with status 3, so that no wrong run leaves a number
// behind.
void bench_fail(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));

// A number from the command line; anything but a whole number from low to high ends the process with status
// 2.
long bench_parse_long(const char* option, const char* text, long low, long high);

// Runs the calibration loop once on the calling thread and returns its time in ns.
double bench_spin_once(void);

// Prints {"ns": [...], "quiet": n} without a line end.
void bench_print_samples(const struct bench_samples* samples);

double bench_median(const struct bench_samples* samples);
