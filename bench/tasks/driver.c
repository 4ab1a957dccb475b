// Command line, timing and output of the task benchmarks, see driver.h. Main thread only.
//
//   fib [--all] [--samples 7] [--budget-ms 1000] [--json] [--spin-min 9800] [--max-wait-us 4000]
//
// --all is the shape without cut-off. Samples stop at their number or when the budget is spent, after one at
// least. The first run is checked, not timed: it pays for page faults and for the team's start. The others are
// regions for the instrument of tests/numa.
#include "driver.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "../common/bench.h"
#include "../common/team.h"
#include "../../tests/numa/region.h"

static void run_checked(const struct task_benchmark* benchmark, struct bench_samples* samples,
                        uint64_t max_wait_ns) {
  if (benchmark->reset) benchmark->reset();
  const bool quiet = bench_quiet_wait(max_wait_ns);
  const uint64_t start = bench_now_ns();
  if (samples) NUMA_REGION_BEGIN();
  benchmark->run();
  if (samples) NUMA_REGION_END();
  const double ns = (double)(bench_now_ns() - start);
  benchmark->check();
  if (!samples) return;
  samples->quiet += quiet;
  samples->ns[samples->count++] = ns;
}

int task_benchmark_main(int argc, char** argv, const struct task_benchmark* benchmark) {
  static struct bench_samples samples;
  bool cutoff = true;
  bool json = false;
  long count = 7;
  long budget_ms = 1000;
  long max_wait_us = 4000;
  for (int i = 1; i < argc;) {
    const char* option = argv[i++];
    if (strcmp(option, "--all") == 0) {
      cutoff = false;
    } else if (strcmp(option, "--json") == 0) {
      json = true;
    } else {
      const char* value = i < argc ? argv[i++] : NULL;
      if (strcmp(option, "--samples") == 0) {
        count = bench_parse_long(option, value, 1, kBenchMaxSamples);
      } else if (strcmp(option, "--budget-ms") == 0) {
        budget_ms = bench_parse_long(option, value, 1, 1000000);
      } else if (strcmp(option, "--spin-min") == 0) {
        bench_set_spin_minimum((double)bench_parse_long(option, value, 1, 1000000000));
      } else if (strcmp(option, "--max-wait-us") == 0) {
        max_wait_us = bench_parse_long(option, value, 0, 10000000);
      } else {
        fprintf(stderr,
                "bench: unknown option \"%s\"; legal: --all, --json, --samples, --budget-ms, --spin-min, "
                "--max-wait-us\n",
                option);
        return 2;
      }
    }
  }
  benchmark->prepare(cutoff);
  const uint64_t stop = bench_now_ns() + (uint64_t)budget_ms * 1000000;
  run_checked(benchmark, NULL, 0);
  do {
    run_checked(benchmark, &samples, (uint64_t)max_wait_us * 1000);
  } while (samples.count < count && bench_now_ns() < stop);
  if (json) {
    printf("{\"runtime_file\": \"%s\", \"threads\": %d, \"rows\": {\"%s%s\": ", bench_runtime_file(),
           omp_get_max_threads(), benchmark->name, cutoff ? "" : " all");
    bench_print_samples(&samples);
    printf("}}\n");
  } else {
    printf("%s, %s: %.2f ms (median of %d runs, %d threads, %s), result right\n", benchmark->name,
           cutoff ? benchmark->with_cutoff : benchmark->without_cutoff, bench_median(&samples) / 1e6,
           samples.count, omp_get_max_threads(), bench_runtime_file());
  }
  return 0;
}
