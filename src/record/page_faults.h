// Page faults of a thread, as samples with their addresses: who touches which memory first.
//
// A software event of perf_event_open(2), which needs neither rights nor counters of the processor. The kernel writes the
// samples into a ring of memory; the thread itself reads them, in its own time. Faults inside of the kernel (read() into
// fresh memory) are not seen. What comes while the ring is full is lost, and counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace hearth::record {

class PageFaults {
 public:
  /// Every so many faults of the thread give a sample.
  static constexpr std::uint32_t kEvery = 16;

  /// For the calling thread. False, with errno, when the kernel refuses.
  bool open();
  void close();
  bool is_open() const { return page_ != nullptr; }

  /// The kernel has written something since the last read().
  bool any() const {
    // Acquire pairs with the kernel's barrier before it moves the head: the samples are there.
    return HEARTH_UNLIKELY(head_ != nullptr && __atomic_load_n(head_, __ATOMIC_ACQUIRE) != tail_);
  }
  /// The next samples' addresses, at most `room` of them; how many there were. 0: no more.
  std::size_t read(std::uint64_t* addresses, std::size_t room);
  std::uint64_t lost() const { return lost_; }

 private:
  static constexpr std::size_t kDataPages = 32;

  const std::uint64_t* head_ = nullptr;
  std::uint64_t tail_ = 0;
  void* page_ = nullptr;  // the event's first page, then the ring
  int file_ = -1;
  std::uint64_t id_ = 0;  // the kernel's number of the event: the program may close our file
  std::uint64_t lost_ = 0;
};

}  // namespace hearth::record
