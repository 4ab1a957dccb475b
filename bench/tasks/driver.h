// The frame of the task benchmarks: each is a plain OpenMP program with a serial answer, its result checked
// every time.
//
// A benchmark fills one `struct task_benchmark` and calls task_benchmark_main(). Two shapes: with its cut-off
// (tasks of a sensible size, serial below) and without (a task for everything that could be one, which
// measures the runtime). All functions are called by the main thread outside regions; run() opens the region.
#pragma once

#include <stdbool.h>

struct task_benchmark {
  const char* name;
  const char* with_cutoff;  // what is computed in each shape, for people
  const char* without_cutoff;
  void (*prepare)(bool cutoff);  // builds the input and the serial answer; called once
  void (*reset)(void);           // restores the input before each run; may be NULL
  void (*run)(void);             // the timed part
  void (*check)(void);           // ends the process through bench_fail() if the result is wrong
};

int task_benchmark_main(int argc, char** argv, const struct task_benchmark* benchmark);
