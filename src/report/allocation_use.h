// Allocations: who touched them first, where their pages lay, and tasks of which locations read and write them. Filled once
// from a recording, then only read.
//
// What tasks declare is laid over the allocations by address and time. A task's bytes are known by location, but not by
// allocation: so the remote share of an allocation is an estimate, as if every part of it were used alike.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/recording_file.h"

namespace hearth::report {

struct Run;

struct AllocationUse {
  std::int64_t readers = 0, writers = 0;     // tasks
  double read = 0, written = 0;              // bytes
  std::vector<double> used_at;               // bytes, by location of the task; empty: not known
  std::vector<double> home_at;               // bytes, by location, as it was freed or the program ended; empty: not known
  std::vector<double> touched_at;            // pages, by location of the thread, of samples; empty: none
  std::int32_t first_toucher = -1;           // the thread with most of the samples; -1: not known
  double first_part = 0;                     // its part of them

  /// Of the bytes that tasks declare; below 0: not known.
  double remote_share() const;
  /// The location with most of it, and its part; -1: not known.
  struct Most {
    std::int32_t location = -1;
    double part = 0;
  };
  static Most most_of(const std::vector<double>& by_location);
};

/// As many as `run.allocations`, which must be read already.
std::vector<AllocationUse> read_allocation_uses(replay::RecordingFile& file, const Run& run);

}  // namespace hearth::report
