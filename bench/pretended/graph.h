// A program of tasks in numbers: allocations, what depend clauses name of them, and what each task uses and computes.
// Made by the initial thread before there are tasks; then only the counts by which the order is checked change.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pretend.h"

/// What a task does in one go. Pieces advance in lock step.
struct work {
  double cycles;
  int first_piece, pieces;
};

struct task {
  int first_read, reads, first_write, writes;  // graph.read, graph.write
  int first_work, works;
};

// Static, so that nothing but the data itself is allocated before it: distributions go by the order.
enum { kMost = 1 << 17, kMostArrays = 3 };
struct graph {
  char* unit[kMost];  // what depend clauses name whole: vectors, blocks, the shortest runs
  size_t unit_bytes;  // of each
  struct task tasks[kMost];
  struct work works[kMost];
  struct pretend_piece pieces[kMost];
  int read[kMost], write[kMost];  // units
  int array[kMostArrays];         // the first unit of each array that has a loop of its own to fill it
  int unit_count, task_count, work_count, piece_count, read_count, write_count, array_count;
};
extern struct graph graph;

/// An allocation of so many units. The number of the first; the others follow.
int graph_allocate(size_t unit_bytes, int units);
/// An array begins with this unit. Without a call all units are one.
void graph_array(int unit);
/// What follows is the next task's, until the next call.
void graph_task(void);
void graph_reads(int unit);
void graph_writes(int unit);
void graph_work(double cycles);
void graph_piece(int unit, size_t bytes, bool written, bool strided);
/// A unit that the clause names and the task uses, whole.
void graph_use(int unit, bool written);

/// Fills the graph for a benchmark of bench/las. A setting is NAME=VALUE; false: it is not one of the benchmark's, or
/// one is absent.
bool graph_make(const char* benchmark, int settings, char** setting);
