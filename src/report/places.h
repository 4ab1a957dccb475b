// Where things are, of recordings that tell it (schema 4): locations and distances, bytes of tasks by location, what the policy
// decided, homes of allocations. read_places() fills it once; then it is only read. All empty for older recordings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/recording_file.h"

namespace hearth::report {

/// Of one task's bytes, by where it ran.
struct TaskBytes {
  std::int64_t all = 0, remote = 0, unknown = 0;  // unknown: nobody knows where they are, or where the task ran
  double weighted = 0;                            // known bytes x distance
};

struct Decision {
  std::int64_t when = -1;
  std::int32_t from = -1, chosen = -1;  // locations; chosen < 0: it stays
  std::int32_t why = -1;                // of Places::whys
  bool made = false;
};

struct AllocationPlace {
  std::int64_t allocation = 0, bytes = 0;
  std::int32_t location = -1;
};

struct Places {
  bool told = false;  // the recording has these tables
  std::string machine, policy, distances_from;
  bool pretended = false;
  std::int32_t locations = 0;
  std::vector<double> distance;      // [location * locations + memory]; 0: not known
  std::vector<std::int32_t> ran_on;  // location, by task; -1: not known
  std::vector<TaskBytes> bytes;      // by task; empty: none is known
  std::vector<double> matrix;        // bytes; [location of the task * locations + of the memory]
  std::vector<Decision> decisions;   // by task; empty: none
  std::vector<std::string> whys;
  std::vector<AllocationPlace> homes;  // bytes of allocations by location
  std::vector<AllocationPlace>
      first_touches;  // pages that samples say were touched first from a location: `bytes` is their count
};

/// Of the tasks 0 to `count` - 1; only process 0's machine.
void read_places(replay::RecordingFile& file, std::int64_t count, Places& out);

}  // namespace hearth::report
