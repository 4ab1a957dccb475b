// How often threads of this process bound themselves or others, and how many pages moved: for tests/numa.
#pragma once

/// A negative figure: not known here.
struct counts {
  long binds;  // calls of sched_setaffinity by this process
  long pages;  // pages that the kernel moved, for whomever on this machine
};

/// Before the process has other threads: only threads that are made later are counted.
void counts_open(void);
struct counts counts_now(void);
