// From the clock's ticks to nanoseconds, for what was added to a recording last. Plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.h"

namespace hearth::record {

struct Clock {
  double rate = 1;  // nanoseconds a tick
  std::uint64_t ticks = 0, nanoseconds = 0;
};

/// From readings of both clocks; else from this machine's.
Clock calibrate(const std::vector<ClockPair>& pairs, const std::string& name, std::vector<Problem>& problems);

/// What was appended to the recording since `from`.
struct Marks {
  std::size_t threads, tasks, regions, spans, waits, loops, chunks, allocations, moves, homes, touches, decisions;
};
Marks mark(const Recording& recording);

void convert_times(Recording& out, const Marks& from, const Clock& clock);

/// A worker leaves the barrier that ends a region when it is needed again: what is beyond the region's end is no waiting of
/// the region's.
void cut_at_regions_end(Recording& out, const Marks& from);

}  // namespace hearth::record
