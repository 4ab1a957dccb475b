// A program as the simulator sees it: regions of memory, tasks, what each computes and touches, who creates
// whom and in which order. Made by a benchmark's generator or read from a recording; a plain value, not
// changed while it is simulated.
//
// Tasks of one kind come in millions, so everything lies in flat arrays and refers by index: a leaf task with
// three accesses takes some 200 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string>
#include <vector>

#include "placement/need.h"

namespace hearth::sim {

using TaskIndex = std::uint32_t;
using RegionIndex = std::uint32_t;

/// How an access walks through its bytes: it decides how many misses a core has in flight, and how much of
/// the waiting the computing hides. Machine models have figures for each.
enum class Pattern : std::uint8_t {
  stream,   // element by element; the prefetcher follows
  strided,  // short rows, far apart
  random,
  chase,  // each address from the one before
};
inline constexpr std::size_t kPatterns = 4;
const char* name_of(Pattern pattern);

/// Who touches a region's pages first; it decides where they are when no distribution does.
enum class FirstTouch : std::uint8_t {
  initial_thread,
  by_parts,   // in equal contiguous parts, as a static loop's threads do
  by_writer,  // the task that first uses a page
};

/// One allocation. Their order is that of the calls, which `coarse` deals by.
struct Region {
  std::string name;
  std::uint64_t bytes = 0;
  FirstTouch first_touch = FirstTouch::initial_thread;
  /// Takes part in the run's distribution; small or foreign memory does not.
  bool distributed = true;
  bool advisable = true;  // somebody can put advice about it in force
};

/// Bytes of one region that a task touches: `rows` pieces of `length` bytes, `pitch` bytes from start to
/// start. Rows with gaps move whole cache lines.
struct Access {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t pitch = 0;
  std::uint32_t rows = 1;
  RegionIndex region = 0;
  /// How often all of it is walked through; 0: declared, yet never touched. A pass after the first finds in
  /// the private cache what it left there if this access fits together with what the work's other accesses
  /// move meanwhile: their bytes x min(1, their passes / these).
  float passes = 1;
  placement::Access mode = placement::Access::read;
  Pattern pattern = Pattern::stream;
  /// The policy gets to see it (a depend or affinity clause names it). Others cost time all the same. What a
  /// task touches in several works is declared in one of them, or it would count as often.
  bool declared = true;
  /// A call or an affinity clause names it, which says better than a depend clause where the task should be,
  /// and whether it reads what it writes: a clause's `out` cannot be told from `inout` at run time.
  bool stated = false;
  /// The program says that this is what the task works on (hearth_task_footprint's mark).
  bool intense = false;
};

/// What a task does between two scheduling points.
struct Work {
  std::uint64_t cycles = 0;  // computing, with all data in the first cache
  std::uint32_t first_access = 0;
  std::uint32_t accesses = 0;
};

/// Moving memory, or the thread that runs the task.
struct Migration {
  enum class Kind : std::uint8_t {
    pages,       // of a part of a region, now
    next_touch,  // each of them beside the worker that touches it next
    thread,      // it takes its own tasks along
  };
  Kind kind = Kind::pages;
  RegionIndex region = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  placement::Location to =
      placement::kUnknown;  // pages, thread: of the machine; unknown: where the thread is
};

/// One step of a task's body.
struct Step {
  enum class Kind : std::uint32_t {
    work,       // `index`: of Workload::works
    create,     // `index`: the child, deferred
    run,        // `index`: the child, undeferred: if(0), final
    task_wait,  // for the children so far
    wait_all,   // for the children so far and all their descendants: the end of a taskgroup or of a region
    migrate,    // `index`: of Workload::migrations
  };
  Kind kind : 3;
  std::uint32_t index : 29;
};
static_assert(sizeof(Step) == 4);
inline constexpr std::uint32_t kMaxIndex = (1u << 29) - 1;

struct Task {
  std::uint32_t first_step = 0;
  std::uint32_t steps = 0;
  /// Tasks that must have ended before this one starts: siblings created earlier.
  std::uint32_t first_predecessor = 0;
  std::uint32_t predecessors = 0;
  std::uint32_t kind = 0;  // of Workload::kinds: the task construct it comes from
};

struct Workload {
  std::string name;
  std::vector<Region> regions;
  std::vector<std::string> kinds;
  std::vector<Task> tasks;  // [0] is the implicit task of the initial thread, whose body is the program
  std::vector<Step> steps;
  std::vector<Work> works;
  std::vector<Access> accesses;
  std::vector<TaskIndex> predecessors;
  std::vector<Migration> migrations;
  /// Implicit tasks of a parallel region whose threads all create tasks: [0]'s first `create`s that are not
  /// dealt but run one on each worker. 0 or 1: one producer.
  std::uint32_t producers = 1;
  /// What of the time the recording does not explain by accesses: 0 for generators.
  double unexplained = 0;

  /// Empty if all indices are in range, accesses lie in their regions, predecessors are earlier siblings, and
  /// every task but [0] is created once; else what is wrong and where.
  std::string inconsistency() const;
};

}  // namespace hearth::sim
