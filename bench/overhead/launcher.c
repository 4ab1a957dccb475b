// Times whole processes: launcher COUNT MAX_WAIT_US LIBRARY_PATH PROGRAM
//
// Starts PROGRAM one at a time with LD_LIBRARY_PATH=LIBRARY_PATH and prints the time from posix_spawn until
// it has been reaped as JSON. Written in C and free of OpenMP, so that neither an interpreter's fork nor a
// runtime's idle workers are in the figure. Single-threaded.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/bench.h"

extern char** environ;

static double spin_minimum_ns = 0;

static int wait_until_quiet(uint64_t max_wait_ns) {
  const uint64_t give_up = bench_now_ns() + max_wait_ns;
  do {
    const double ns = bench_spin_once();
    if (ns < spin_minimum_ns) spin_minimum_ns = ns;
    if (ns <= spin_minimum_ns * 1.06) return 1;
  } while (bench_now_ns() < give_up);
  return 0;
}

static double time_process(char* program) {
  char* arguments[] = {program, NULL};
  pid_t pid;
  int status;
  const uint64_t start = bench_now_ns();
  const int error = posix_spawn(&pid, program, NULL, NULL, arguments, environ);
  if (error) bench_fail("cannot start %s: %s", program, strerror(error));
  if (waitpid(pid, &status, 0) != pid) bench_fail("waitpid failed");
  const double ns = (double)(bench_now_ns() - start);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) bench_fail("%s ended with status %#x", program, status);
  return ns;
}

int main(int argc, char** argv) {
  static struct bench_samples samples;
  if (argc != 5) {
    fputs("usage: launcher COUNT MAX_WAIT_US LIBRARY_PATH PROGRAM\n", stderr);
    return 2;
  }
  const long count = bench_parse_long("COUNT", argv[1], 1, kBenchMaxSamples);
  const long max_wait_us = bench_parse_long("MAX_WAIT_US", argv[2], 0, 10000000);
  setenv("LD_LIBRARY_PATH", argv[3], 1);
  spin_minimum_ns = bench_spin_once();
  for (int i = 0; i < 200; ++i) {
    const double ns = bench_spin_once();
    if (ns < spin_minimum_ns) spin_minimum_ns = ns;
  }
  time_process(argv[4]);  // brings the files into the page cache
  for (long i = 0; i < count; ++i) {
    samples.quiet += wait_until_quiet((uint64_t)max_wait_us * 1000);
    samples.ns[samples.count++] = time_process(argv[4]);
  }
  bench_print_samples(&samples);
  putchar('\n');
  return 0;
}
