// The frame of the nested programs: arguments, memory, times, counts, and what a run prints.
//
// The programs are plain OpenMP and run on every runtime. A program is one function that does one repetition: it
// makes its data, marks what counts by forest_begin() and forest_end(), and checks the result, which is exact, since
// all data are integers that wrap around. Hints (hints.h) are looked up weakly.
//
// All functions are called by the initial thread outside of parallel regions, but forest_fail(), forest_pages() and
// forest_part(), which any thread may call.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t word;

/// An option of one program: a number from `least` to `most`, or one of `words`, whose place is the value.
struct forest_option {
  const char* name;
  long value;
  long least;
  long most;
  const char* const* words;  // ends with NULL; NULL: a number
};

struct forest_program {
  const char* name;
  struct forest_option* options;  // ends with an option without a name; NULL: none
  int least_teams;                // of the default: one team per NUMA node, at least so many; 1: teams are of no use
  void (*repeat)(void);
};

/// What the command line says to every program.
struct forest_arguments {
  int teams;     // --teams: threads of the outer team
  int threads;   // --threads: of each nested team
  size_t bytes;  // --bytes: of one vector, per thread; whole pages
  int passes;    // --passes: how often the data is used in one repetition
};
extern struct forest_arguments forest;

int forest_main(int argc, char** argv, const struct forest_program* program);

/// What lies between the two is counted by tests/numa and by --count. Once per repetition.
void forest_begin(void);
void forest_end(void);
/// --count counts from here on, not from forest_begin() on.
void forest_watch(void);

/// `row` took `seconds` for `bytes`, in this repetition; bytes 0: what counts is the time itself. `row` is a literal.
void forest_time(const char* row, double bytes, double seconds);
/// A figure of its own in the output, such as the best balance that there is; the last one of its name counts.
void forest_tell(const char* name, double value);

/// Fresh memory from the kernel, so that the first touch decides where it lies.
void* forest_pages(size_t bytes);
void forest_release(void* pages, size_t bytes);

/// NUMA nodes of this machine, at least 1.
int forest_nodes(void);

/// Part `me` of `of` equal parts of `count`: [begin, end), as schedule(static) cuts where it divides.
struct forest_range {
  size_t begin;
  size_t end;
};
struct forest_range forest_part(size_t count, int me, int of);

/// What the caller found is wrong: says so and ends the process with status 3.
void forest_fail(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));
