// The part of the benchmark programs' common code that needs an OpenMP team. Main thread only, outside
// parallel regions; bench_quiet_wait() opens a region of its own.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Time of the calibration loop on an idle core, as the runner measured it; 0 lets the process find it by
// itself.
void bench_set_spin_minimum(double ns);

// Waits until the calibration loop runs at its undisturbed speed on every thread of the team, at most
// max_wait_ns. Returns whether that moment came.
bool bench_quiet_wait(uint64_t max_wait_ns);

// File name of the library that answers omp_get_max_threads in this process.
const char* bench_runtime_file(void);
