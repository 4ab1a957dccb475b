// A recording put together: tasks with their parents, times and places, regions, waits, loops and
// dependences, of all processes of a recording folder. Made once by assemble(), then read.
//
// Everything lies in flat arrays and refers by index; some 450 bytes a task. Times are nanoseconds since the
// recording began. Tasks and regions stand in the order of the program's text and numbers, not of the clock:
// a run that makes the same tasks numbers them the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/reader.h"

namespace hearth::record {

using Index = std::uint32_t;
inline constexpr Index kNone = UINT32_MAX;
using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kNever = -1;

/// A place in the program's code.
struct Code {
  Index process = kNone;
  std::uint64_t address = 0;
  std::string module;  // empty: not known
  std::uint64_t offset = 0;
};

struct Process {
  ProcessText text;
  std::string name;  // of its files
  std::uint32_t forks = 0;
  bool footprints = false;  // the runtime tells of them
  bool creations = false;   // and of the end of a task's creation
};

struct Thread {
  Index process = kNone;
  std::uint32_t number = 0;
  std::uint64_t kernel_id = 0;
  std::uint32_t type = 0;  // ompt_thread_t
  Nanoseconds begin = kNever, end = kNever;
  bool ended = false;
};

/// Where among its parent's (or region's) tasks a task stands, apart from its number.
struct Slot {
  enum class Kind : std::uint8_t { none, single, section, loop };
  Kind kind = Kind::none;
  std::uint32_t construct = 0;  // the how-manieth worksharing construct of the region
  std::uint64_t start = 0;      // section, loop: which part of it
  friend auto operator<=>(const Slot&, const Slot&) = default;
};

struct Task {
  enum class Kind : std::uint8_t { initial, implicit, explicit_, target, taskwait };
  std::uint64_t key = 0;  // of its path: the same in every run that makes the same tasks
  Index process = kNone;
  Index parent = kNone;   // the task that made it, or for an implicit task met the region
  Index region = kNone;   // whose team it belongs to
  Index anchor = kNone;   // what its path continues, an index into `order`: see Recording
  std::uint32_t nth = 0;  // among those with the same slot; implicit: the thread's number in the team
  Slot slot;
  Kind kind = Kind::explicit_;
  std::uint32_t flags = 0;   // ompt_task_flag_t
  std::uint32_t status = 0;  // ompt_task_status_t as it ended; 0: it has not
  Index code = kNone;
  Index creator = kNone;  // thread
  Index thread = kNone;   // that began it
  std::uint32_t cpu = UINT32_MAX;
  std::int32_t location = -1;  // where it began; -1: not known
  Nanoseconds created = kNever, creation = kNever;  // when; how long the creator was held up
  Nanoseconds begin = kNever, end = kNever;
  Nanoseconds work = 0;      // ran and neither waited nor made tasks
  Nanoseconds waited = 0;    // its thread had nothing else to run
  Nanoseconds creating = 0;  // of its children
  bool counted = false;
  std::uint64_t counters[3] = {};
};

struct Region {
  std::uint64_t key = 0;
  Index process = kNone;
  Index parent = kNone;  // task
  Index anchor = kNone;
  Slot slot;
  std::uint32_t nth = 0;
  std::uint32_t requested = 0, team = 0, flags = 0;
  Index code = kNone;
  Nanoseconds begin = kNever, end = kNever;
};

/// A task on a thread without interruption.
struct Span {
  Index task = kNone, thread = kNone;
  std::uint32_t cpu = UINT32_MAX;
  Nanoseconds begin = 0, end = 0;
  std::int32_t location = -1;
};

struct Wait {
  enum class On : std::uint8_t { region, lock };
  Index task = kNone, thread = kNone, code = kNone;
  On on = On::region;
  std::uint32_t kind = 0;  // ompt_sync_region_t or ompt_mutex_t
  Nanoseconds begin = 0, end = 0;
  Nanoseconds idle = 0;  // ran no other task in it
};

struct Loop {
  Index task = kNone, thread = kNone, code = kNone;
  std::uint32_t kind = 0;  // ompt_work_t
  std::uint32_t construct = 0;
  std::uint64_t iterations = 0;
  Nanoseconds begin = 0, end = kNever;
};

struct Chunk {
  Index task = kNone, thread = kNone, loop = kNone;  // loop: none for those of a taskloop
  std::uint64_t first = 0, iterations = 0;
  Nanoseconds begin = 0, end = kNever;
};

struct Dependence {
  Index task = kNone;
  std::uint32_t type = 0;  // ompt_dependence_type_t
  std::uint64_t address = 0;
};

struct Range {
  Index task = kNone;
  std::uint32_t bits = 0;  // spill.h
  std::uint64_t begin = 0, length = 0, rows = 1, pitch = 0;
};

/// A large block that the program got from its allocator.
struct Allocation {
  Index process = kNone, thread = kNone, code = kNone;  // thread: none for those that OpenMP does not know
  std::uint64_t address = 0, bytes = 0;
  Nanoseconds when = kNever;
  Nanoseconds freed = kNever;
  std::uint32_t source = 0;      // spill.h
  std::int32_t distribution = -1;  // an index into the process's words of distributions; -1: the system's
};

/// A sample of what a thread has touched first: so many pages, one of them in the allocation.
struct Touch {
  Index allocation = kNone, task = kNone, thread = kNone;
  std::int32_t location = -1;  // of the thread; -1: not known
  std::uint32_t faults = 0;
  Nanoseconds when = kNever;
};

/// How much of an allocation lay where, as it was freed or the program ended.
struct Home {
  Index allocation = kNone;
  std::int32_t location = -1;  // -1: not known, or not touched yet
  std::uint64_t bytes = 0;
  Nanoseconds when = kNever;
};

/// What a task reads and writes at a location.
struct TaskBytes {
  Index task = kNone;
  std::int32_t memory = -1;  // -1: nobody knows where
  std::uint64_t read = 0, written = 0;
  bool decided = false;  // as the policy was shown it; else as the task ended
};

/// What the policy answered.
struct Decision {
  Index task = kNone, thread = kNone;
  Nanoseconds when = kNever;
  bool released = false, stated = false;
  std::int32_t location = -1;  // of the thread that asked
  std::int32_t chosen = -1;    // -1: it stays there
  std::uint32_t why = 0;
};

/// Threads or pages that Hearth has moved; told once for many pages.
struct Move {
  Index process = kNone, thread = kNone;  // who did it
  std::uint32_t what = 0, why = 0;        // hearth_ompt_moved_t, hearth_ompt_cause_t
  std::uint64_t count = 0;
  std::int64_t location = -1;  // -1: several
  std::uint64_t address = 0;   // one of the pages'; 0: not known
  Nanoseconds when = kNever;
};

struct Edge {
  Index task = kNone, predecessor = kNone;
};

struct Recording {
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Code> codes;
  std::vector<Task> tasks;
  std::vector<Region> regions;
  std::vector<Span> spans;
  std::vector<Wait> waits;
  std::vector<Loop> loops;
  std::vector<Chunk> chunks;
  std::vector<Dependence> dependences;
  std::vector<Range> ranges;
  std::vector<Edge> edges;
  std::vector<Allocation> allocations;  // by process, then time
  std::vector<Move> moves;              // by process, then time
  std::vector<Home> homes;
  std::vector<Touch> touches;
  std::vector<TaskBytes> task_bytes;  // by task
  std::vector<Decision> decisions;    // by task
  std::vector<Problem> problems;
  std::uint64_t records = 0;
  std::uint64_t realtime = 0;  // as the recording began
  double ticks_per_ns =
      0;  // of the first process's clock, which on most machines runs at the nominal frequency
};

/// Tasks and regions share their numbers: a region's index in that order has this bit.
inline constexpr Index kRegionBit = Index{1} << 31;

/// Called now and then by what takes long: (done, all). May throw Interrupted, which ends it.
using ProgressOf = std::function<void(std::uint64_t, std::uint64_t)>;
struct Interrupted {};

/// Progress is in bytes of the spill files.
Recording assemble(const std::filesystem::path& folder, const ProgressOf& progress);

/// "s2.5": the 5th task that the region's 2nd worksharing construct, a single, has made.
std::string step_name(const Task& task);
std::string step_name(const Region& region);

}  // namespace hearth::record
