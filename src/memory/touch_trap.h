// Next touch by a trap: pages are closed (PROT_NONE), and the first access of any thread to a unit of them faults. The
// handler opens the unit and then moves it to the thread's location. An opt-in: a system call that is given closed memory
// fails with EFAULT, and a thread that has SIGSEGV blocked is killed.
//
// A unit has a state: marked -> claimed -> opened. The one fault that claims it opens it, first of all (Linux 6.1 to 6.4
// does not move closed pages), and moves it, while the others already use it. What is marked opens at the latest with
// open_marks(), which the runtime calls at the end of a region, with the first fault after kMarksLastNs, and before a
// fork(), since pages that two processes have do not move.
//
// Memory that the program unmaps or maps anew meanwhile: a unit is opened only where its first page cannot be read.
//
// Faults that are not ours go to the handler that was there before, with its own flags and mask. So that it is not
// cut off, nothing is closed once another handler stands in front of ours.
#pragma once

#include <atomic>
#include <cstdint>

#include "placement/need.h"

namespace hearth::memory {

/// A unit is 2 MiB, and 64 KiB in ranges that are smaller. More units than kMostMarks are never closed at a time: each
/// costs up to two of the 65,530 mappings that a process may have.
inline constexpr std::uint64_t kTrapUnit = std::uint64_t{2} << 20, kSmallTrapUnit = std::uint64_t{64} << 10;
inline constexpr std::uint32_t kMostMarks = 16384;
inline constexpr std::uint64_t kMarksLastNs = 10'000'000'000;

/// Whole pages of areas. False: `why` says what stands against it, and what was closed by this call is open again. Any
/// thread, but not in a handler.
bool close_until_touched(placement::ByteRange pages, const char*& why);

/// Marks that are in use. Relaxed: whoever closes memory and ends a region is one thread, or has a barrier in between.
extern std::atomic<std::uint32_t> live_marks;
inline bool any_marks() { return live_marks.load(std::memory_order_relaxed) != 0; }

/// Opens what nobody has touched. One load where nothing is closed.
void open_marks();
void open_marks(placement::ByteRange within);

struct TrapCounts {
  std::uint32_t marked = 0;     // units that are closed now
  std::uint64_t faults = 0;     // units that a touch has opened
  std::uint64_t moved = 0;      // pages
  std::uint64_t passed_on = 0;  // faults that were not ours
};
TrapCounts trap_counts();

}  // namespace hearth::memory
