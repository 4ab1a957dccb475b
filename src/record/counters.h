// Hardware counters of a thread: cycles, instructions and misses of the last-level cache, by
// perf_event_open(2).
//
// Each thread opens its own and reads them itself: from the processor where the kernel lets it (rdpmc), else
// by a system call, which costs some hundred nanoseconds a reading.
#pragma once

#include <cstdint>

namespace hearth::record {

inline constexpr int kCounters = 3;

class Counters {
 public:
  /// For the calling thread. False, with errno, when the kernel refuses.
  bool open();
  void close();
  void read(std::uint64_t (&values)[kCounters]) const;

 private:
  int files_[kCounters] = {-1, -1, -1};
  std::uint64_t ids_[kCounters] = {};  // the kernel's number of each event: the program may close our files
  void* pages_[kCounters] = {};
};

}  // namespace hearth::record
