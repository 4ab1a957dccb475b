// The overhead benchmark: times the constructs of constructs.c on whatever OpenMP library the loader found,
// and prints one JSON object. bench/run starts it many times, alternating the libraries.
//
//   overhead --list                            the rows: name, group, operation, one a line
//   overhead [--rows "a;b"] [--samples 7] [--sample-us 500] [--spin-min 9800] [--max-wait-us 4000]
//   overhead --count ROW REPS                  runs one row and prints how many operations that were
//
// Main thread only outside the rows. Per row: verify, find the repetitions that fill one sample, then
// alternate the wait for a quiet moment and a sample.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bench.h"
#include "../common/team.h"
#include "constructs.h"

struct settings {
  const char* rows;  // NULL: all; else names separated by semicolons
  long samples;
  long sample_us;
  long max_wait_us;
};

static bool is_wanted(const char* rows, const char* name) {
  if (!rows) return true;
  const size_t length = strlen(name);
  for (const char* at = rows; at; at = strchr(at, ';')) {
    if (*at == ';') ++at;
    if (strncmp(at, name, length) == 0 && (at[length] == ';' || at[length] == '\0')) return true;
  }
  return false;
}

static const struct row* find_row(const char* name) {
  for (int i = 0; i < constructs_count; ++i) {
    if (strcmp(constructs[i].name, name) == 0) return &constructs[i];
  }
  fprintf(stderr, "bench: there is no row \"%s\"; overhead --list names them\n", name);
  exit(2);
}

static void reject_unknown_rows(const char* rows) {
  char* copy = strdup(rows);
  char* rest = NULL;
  for (char* name = strtok_r(copy, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) find_row(name);
  free(copy);
}

static double time_run(const struct row* row, long reps) {
  const uint64_t start = bench_now_ns();
  row->run(reps);
  return (double)(bench_now_ns() - start);
}

// Doubles the repetitions until a run lasts half a sample, so that slow constructs on slow runtimes stay
// bounded.
static long fit_repetitions(const struct row* row, double sample_ns) {
  const long most = 1L << 28;
  long reps = 1;
  double ns = time_run(row, reps);
  while (ns < sample_ns / 2 && reps < most) {
    reps *= 2;
    ns = time_run(row, reps);
  }
  const double again = time_run(row, reps);  // a disturbed run must not make all samples short
  if (again < ns) ns = again;
  const double fitted = (double)reps * sample_ns / ns;
  return fitted<1 ? 1 : fitted>(double) most ? most : (long)fitted;
}

static void measure(const struct row* row, const struct settings* settings, bool first) {
  static struct bench_samples samples;
  constructs_verify(row, 3);
  const long reps = fit_repetitions(row, (double)settings->sample_us * 1000);
  samples.count = 0;
  samples.quiet = 0;
  for (long s = 0; s < settings->samples; ++s) {
    samples.quiet += bench_quiet_wait((uint64_t)settings->max_wait_us * 1000);
    const uint64_t start = bench_now_ns();
    const struct work work = row->run(reps);
    const double ns = (double)(bench_now_ns() - start);
    samples.ns[samples.count++] = ns / (double)work.operations;
  }
  printf("%s\n  \"%s\": ", first ? "" : ",", row->name);
  bench_print_samples(&samples);
}

int main(int argc, char** argv) {
  struct settings settings = {NULL, 7, 500, 4000};
  for (int i = 1; i < argc; i += 2) {
    const char* option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(option, "--list") == 0) {
      for (int r = 0; r < constructs_count; ++r) {
        printf("%s\t%s\t%s\n", constructs[r].name, constructs[r].group, constructs[r].operation);
      }
      return 0;
    }
    if (strcmp(option, "--count") == 0 && i + 2 < argc) {
      const struct row* row = find_row(argv[i + 1]);
      printf("%ld\n", row->run(bench_parse_long("--count", argv[i + 2], 1, 1L << 30)).operations);
      return 0;
    }
    if (strcmp(option, "--rows") == 0 && value) {
      reject_unknown_rows(value);
      settings.rows = value;
    } else if (strcmp(option, "--samples") == 0) {
      settings.samples = bench_parse_long(option, value, 1, kBenchMaxSamples);
    } else if (strcmp(option, "--sample-us") == 0) {
      settings.sample_us = bench_parse_long(option, value, 1, 10000000);
    } else if (strcmp(option, "--spin-min") == 0) {
      bench_set_spin_minimum((double)bench_parse_long(option, value, 1, 1000000000));
    } else if (strcmp(option, "--max-wait-us") == 0) {
      settings.max_wait_us = bench_parse_long(option, value, 0, 10000000);
    } else {
      fprintf(
          stderr,
          "bench: unknown option \"%s\"; legal: --list, --count, --rows, --samples, --sample-us, --spin-min, "
          "--max-wait-us\n",
          option);
      return 2;
    }
  }
  bench_quiet_wait(0);  // the team's first region, outside every row
  printf("{\"runtime_file\": \"%s\", \"threads\": %d, \"rows\": {", bench_runtime_file(),
         omp_get_max_threads());
  bool first = true;
  for (int r = 0; r < constructs_count; ++r) {
    if (!is_wanted(settings.rows, constructs[r].name)) continue;
    measure(&constructs[r], &settings, first);
    first = false;
  }
  printf("}}\n");
  return 0;
}
