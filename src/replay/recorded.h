// What a recording says of one process, as plain lists: read_recorded() fills them once, then they are only read.
//
// Indices are checked as they are read: a task that is named anywhere here is known().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay/recording_file.h"

namespace hearth::replay {

inline constexpr std::int64_t kNone = -1;

struct RecordedTask {
  std::int64_t parent = kNone, region = kNone, created = 0, creation = 0, begin = 0, work = 0, end = 0;
  enum class Kind { initial, implicit, task, wait } kind = Kind::task;
  bool undeferred = false;
  std::uint32_t name = 0;
};

struct Interval {
  std::int64_t owner = 0, begin = 0, end = 0;
  bool all = false;  // of waits: for descendants, too
};

struct RecordedRegion {
  std::int64_t parent = kNone, begin = 0, end = 0;
};

/// A block that the program got from its allocator.
struct Allocation {
  std::uint64_t begin = 0, bytes = 0;
  std::int64_t when = 0;
  std::string site;         // "file:line" or what is known of the call
  bool of_hearth = false;  // of omp_alloc() or its kin: distributed whatever its size
};

/// One range of a footprint.
struct Touched {
  std::int64_t task = 0;
  std::uint64_t begin = 0, length = 0, rows = 1, pitch = 0;
  bool read = false, written = false, stated = false, decides = false;
  bool guessed = false;      // its length is
  std::uint32_t memory = 0;  // which region of memory it lies in, and where; find_memory() sets both
  std::uint64_t offset = 0;
  std::uint64_t end() const { return begin + (rows - 1) * pitch + length; }
};

struct Recorded {
  std::int64_t process = 0, processes = 0;
  double ticks_per_ns = 1;
  std::vector<RecordedTask> tasks;
  std::vector<char> is_known;  // by task: it belongs to the process
  std::map<std::int64_t, RecordedRegion> regions;
  std::vector<Interval> spans, waits;     // by task, then time
  std::vector<Touched> touched;           // by task
  bool knows_allocations = false;         // schema 2; else `allocations` is empty
  std::vector<Allocation> allocations;    // by time
  std::vector<std::string> names;         // of constructs
  std::size_t left_out = 0;               // ranges that cannot be true

  bool known(std::int64_t id) const {
    return id >= 0 && id < static_cast<std::int64_t>(is_known.size()) && is_known[static_cast<std::size_t>(id)] != 0;
  }
  RecordedTask& at(std::int64_t id) { return tasks[static_cast<std::size_t>(id)]; }
};

/// Of the process with the most work. Empty, or what is wrong.
std::string read_recorded(RecordingFile& file, Recorded& out);

}  // namespace hearth::replay
