// The frame of the six benchmarks of Muddukrishna, Jonsson, Brorsson (Scientific Programming, 2015, table 4).
//
// A benchmark is a plain OpenMP program: it plans its tasks in the order of their creation, creates each by a
// task construct whose depend clause names what it touches, and checks its result. The frame reads the
// arguments, gets memory, opens the region, marks it for tests/numa, and reports who ran how much. All
// functions of a benchmark are called by the initial thread outside of regions, but create() (the one
// creator) and run() (any thread).
//
// Memory comes from omp_malloc_specific() where the runtime that was loaded has it (Hearth), else from
// malloc: the same binary runs everywhere. The initial thread fills it, as in the paper, so that `standard`
// means its node.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// A task in numbers; what they mean is the benchmark's affair, but for the first three.
struct las_task {
  int kind;     // tasks of one kind weigh the same, and are spread evenly by the best assignment
  int step;     // comes after all tasks of lower steps; tasks of one step do not depend on each other
  long weight;  // work, in any unit
  int i, j, k;
  int number;  // the frame's: its place in the plan
};

struct las_argument {
  const char* name;
  long value;  // the default: a size for the virtual machine
  long paper;  // with inputs=paper
  long least;
  long most;
};
enum { kLasArguments = 4 };

struct las_benchmark {
  const char* name;
  struct las_argument* arguments;  // kLasArguments of them, unused ones without a name
  void (*prepare)(void);           // checks the arguments, allocates and fills
  void (*plan)(void);              // las_plan() for every task, in the order of creation
  void (*create)(struct las_task task);
  void (*run)(struct las_task task);             // what the task construct calls, through las_run()
  void (*touches)(const struct las_task* task);  // las_touches() for every range
  void (*check)(void);                           // las_fail() if the result is wrong
  void (*release)(void);
};

int las_main(int argc, char** argv, const struct las_benchmark* benchmark);

/// An allocation distributed as the argument `distribution` says; ends the process when there is none. Pages
/// are untouched.
void* las_malloc(size_t bytes);
void las_free(void* block);

/// hearth_task_footprint() where the runtime has it, for what a depend clause cannot say of the next task;
/// `access` is a hearth_access_t.
void las_footprint(const void* begin, size_t bytes, int access);

void las_plan(struct las_task task);
/// The body of every task: runs it and notes who did.
void las_run(struct las_task task);
/// The task that is asked for touches `lines` cache lines of 64 bytes, spread evenly over this range. 0: all
/// of it.
void las_touches(const void* begin, size_t bytes, size_t lines);

void las_fail(const char* what) __attribute__((noreturn));
