// A recording as the report needs it: every task, where the threads' time went, who waited for what.
//
// read_run() fills it once, in one pass over each table; then it is only read. A recording may be of any schema that
// replay/recording_file.h opens: what it does not have is empty, and the flags say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/allocation_use.h"
#include "report/places.h"

namespace hearth::report {

inline constexpr std::int32_t kNone = -1;

/// A task construct or a kind of implicit task, as the view work_by_construct groups them.
struct ConstructName {
  std::string name;  // "file:line", or what is known
  std::string kind;  // explicit, implicit, initial, target, taskwait
  std::string function, file, module;
  std::int64_t line = 0;
};

struct Task {
  std::int32_t parent = kNone, construct = 0, thread = kNone, cpu = kNone, process = 0, region = kNone;
  std::int64_t key = 0;                                           // the same in every run that creates it
  std::int64_t created = -1, creation = 0, begin = -1, end = -1;  // -1: not known
  std::int64_t work = 0, wait = 0, create = 0;
  std::int64_t cycles = -1, cache_misses = -1;
};

/// A task on a thread, without interruption.
struct Span {
  std::int32_t task = 0, cpu = kNone;
  std::int64_t begin = 0, end = 0;
};

struct Wait {
  std::int32_t task = kNone, thread = kNone, place = 0;
  std::int64_t begin = 0, end = 0, idle = 0;
};

/// What is waited for, and where.
struct WaitPlace {
  std::string kind, name;
};

struct Thread {
  std::int32_t process = 0;
  std::int64_t number = 0;
  std::string type;
  std::vector<Span> spans;  // by time
};

/// A thread's time in worksharing constructs of one place and kind.
struct Loop {
  std::string kind, name;
  std::int32_t thread = kNone;
  std::int64_t times = 0, iterations = 0, time = 0;
};

struct Allocation {
  std::int64_t id = 0, bytes = 0, when = 0;
  std::int32_t thread = kNone;
  std::string site;
  bool own = false;          // the runtime's
  std::string distribution;  // empty: the system's
};

struct Move {
  std::int64_t when = 0, count = 0, location = -1;
  std::int32_t thread = kNone;
  std::string what, why;
};

struct Process {
  std::string host, command, runtime;
  std::int64_t pid = 0;
  bool complete = true, footprints = true, creations = true;
};

struct Run {
  std::string file, command, runtime, hearth, lacks;
  std::string first_touch;  // whether it was recorded, and why not
  std::int64_t recorded_ns = 0;  // Unix time
  int schema = 0;
  std::vector<Process> processes;
  std::vector<Thread> threads;            // by id
  std::vector<std::int32_t> node_of_cpu;  // of the first process; kNone: not known
  std::int32_t nodes = 0;                 // that have CPUs
  std::vector<ConstructName> constructs;
  std::vector<Task> tasks;  // by id
  std::vector<Wait> waits;  // by task, then time
  std::vector<WaitPlace> wait_places;
  std::vector<Loop> loops;  // one for each thread
  std::vector<Allocation> allocations;
  std::vector<AllocationUse> uses;  // of allocations
  std::vector<Move> moves;
  std::vector<std::string> problems;
  std::vector<std::int64_t> declared;  // bytes of its footprint, by task; empty: no task has one
  std::int64_t regions = 0, edges = 0;
  std::vector<std::int64_t> ready;  // by task: when its last predecessor had ended and it existed; -1: not known
  bool counters = false;
  Places places;

  std::int32_t node_of(std::int32_t cpu) const {
    return cpu < 0 || cpu >= static_cast<std::int32_t>(node_of_cpu.size()) ? kNone
                                                                           : node_of_cpu[static_cast<std::size_t>(cpu)];
  }
};

/// Empty, or what is wrong with the file.
std::string read_run(const std::string& path, Run& out);

}  // namespace hearth::report
