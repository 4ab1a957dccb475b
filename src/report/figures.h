// The figures of a run: what the report's first screen and its tables show. Pure: made from a Run.
//
// Thread time is the run's length times the threads that ran anything. It is divided into four classes without rest:
// work (bodies of tasks), creating (the runtime makes tasks), waiting (a task waits, and its thread has nothing to run),
// outside (the thread belongs to no task: before its first, between regions, after its last).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/idle_ready.h"
#include "report/making.h"
#include "report/run.h"

namespace hearth::report {

struct TimeShares {
  std::int64_t work = 0, creating = 0, waiting = 0, outside = 0;
};

struct ThreadFigures {
  std::int32_t thread = 0, node = kNone;  // where it ran longest
  std::int64_t tasks = 0;                 // explicit ones that it started
  TimeShares time;
};

struct ConstructFigures {
  std::int32_t construct = 0;
  std::int64_t tasks = 0, work = 0, least = 0, most = 0, wait = 0, create = 0;
  std::int64_t creation = 0;           // what making its tasks has cost those that made them
  std::int64_t delays = 0, delay = 0;  // tasks with a known delay from ready to begin, and its sum
  std::int64_t declared = 0;           // bytes of its tasks' footprints
  std::int64_t threads = 0;            // that ran some of it
  double imbalance = 1;                // most of a thread / mean of all threads of the run
  Making making;                       // what its creators, and threads that waited for them, spent on it
};

struct WaitFigures {
  std::int32_t place = 0;
  std::int64_t waits = 0, time = 0, idle = 0, longest = 0;  // longest: idle
};

/// A worksharing loop or the like, by its place and kind.
struct LoopFigures {
  std::string kind, name;
  std::int64_t times = 0, iterations = 0, time = 0;  // of all threads: how often one took part, how long
  double imbalance = 1;                              // most time of a thread / mean of those that took part
};

/// Over equal parts of the run.
struct Parallelism {
  std::vector<double> running;    // threads in bodies of tasks
  std::vector<double> available;  // explicit tasks that are ready or run; empty: the run has none
};

struct Figures {
  std::int64_t begin = 0, end = 0;  // of the run: first and last span
  std::int64_t explicit_tasks = 0;
  TimeShares time;                           // of all threads
  std::vector<ThreadFigures> threads;        // those that ran anything
  std::vector<ConstructFigures> constructs;  // by work, most first
  std::vector<WaitFigures> waits;            // by idle time, most first
  std::vector<LoopFigures> loops;            // by time, most first
  Parallelism parallelism;
  IdleReady idle_ready;

  std::int64_t length() const { return end - begin; }
  std::int64_t thread_time() const { return length() * static_cast<std::int64_t>(threads.size()); }
  /// Threads in bodies of tasks, on the average.
  double average_parallelism() const {
    return length() > 0 ? static_cast<double>(time.work) / static_cast<double>(length()) : 0;
  }
  double share(std::int64_t part) const {
    return thread_time() > 0 ? static_cast<double>(part) / static_cast<double>(thread_time()) : 0;
  }
};

Figures figures_of(const Run& run);

}  // namespace hearth::report
