// The constructs whose cost is measured: one row each. Shared by the overhead benchmark (time) and by the
// scaling table (writes to shared lines), so both speak of the same code.
//
// A row's run() performs `reps` repetitions and says how many operations that were and how often touch() must
// have run. Bodies are empty but opaque to the compiler; while a row is verified they count, so that a
// runtime which skips, repeats or reorders work is caught before it is timed. run() is called by the main
// thread outside any region.
#pragma once

#include <stdbool.h>

struct work {
  long operations;  // what the time is divided by
  long touches;     // how often the bodies ran
};

struct row {
  const char* name;
  const char* group;      // rows of one group share a process
  const char* operation;  // what one operation is
  bool everybody;         // each operation is done by the whole team, not by one of its threads
  struct work (*run)(long reps);
};

extern const struct row constructs[];
extern const int constructs_count;

// Runs the row with counting bodies and ends the process if a body ran too often, too rarely or in the wrong
// order.
void constructs_verify(const struct row* row, long reps);
