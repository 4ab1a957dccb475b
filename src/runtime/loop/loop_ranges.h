// What loops with nonmonotonic schedules share: the word in which a member's units stand, and how many of
// them it reserves. loop.cpp tells the protocol.
//
// Ranges are changed by their owner and by thieves, with relaxed compare-and-swaps: a word is a range's whole
// state, and nothing is published through it. LoopState is the member's own.
#pragma once

#include <atomic>
#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "policy/tuning.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/workshare.h"
#include "runtime/state/team.h"

namespace hearth::rt::ranges {

inline constexpr std::uint32_t kSlots = Team::kWorkShares;

// Units of 20 bits, generations of 24. A member would have to be 2^26 nowait loops behind before a generation
// could be taken for another.
inline constexpr int kUnitBits = 20;
inline constexpr std::uint32_t kUnitMask = (1u << kUnitBits) - 1;
inline constexpr std::uint64_t kMaxRangeUnits = kUnitMask - 1;
inline constexpr std::uint32_t kGenerationMask = (1u << 24) - 1;

struct Range {
  std::uint32_t generation, begin, end;

  static Range of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> (2 * kUnitBits)),
            static_cast<std::uint32_t>(word >> kUnitBits) & kUnitMask,
            static_cast<std::uint32_t>(word) & kUnitMask};
  }
  constexpr std::uint64_t word() const {
    return std::uint64_t{generation} << (2 * kUnitBits) | std::uint64_t{begin} << kUnitBits | end;
  }
  static Range left_in(std::uint32_t generation) { return {generation, kUnitMask, kUnitMask}; }
  bool left() const { return begin == kUnitMask; }
  /// How many generations this range is ahead of `other`.
  std::int32_t ahead_of(std::uint32_t other) const {
    return static_cast<std::int32_t>((generation - other) << 8) >> 8;
  }
};
static_assert(Range{kGenerationMask, kUnitMask, kUnitMask}.word() == kUnusedRange,
              "unused ranges are left in -1");

inline std::uint32_t generation_of(std::uint32_t number) { return number / kSlots & kGenerationMask; }

inline StealRange& range_of(Team* team, std::uint32_t number, std::int32_t tid) {
  return team->workshares
      ->ranges[static_cast<std::size_t>(number % kSlots) * static_cast<std::size_t>(team->capacity) +
               static_cast<std::size_t>(tid)];
}

inline std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

/// How many units to reserve of `remaining`, in which `members` have a part.
inline std::uint32_t reserve_of(LoopState& loop, std::uint64_t remaining, std::uint64_t members) {
  if (!loop.eager) return 1;
  const std::uint64_t now = ticks();
  if (to_ns(now - loop.reserved_at) > tuning::kShortReserveNs)
    loop.reserve = 1;
  else if (loop.reserve < kUnitMask / 2)
    loop.reserve *= 2;
  loop.reserved_at = now;
  const std::uint64_t most = remaining / (8 * members);
  if (loop.reserve > most) loop.reserve = most < 1 ? 1 : static_cast<std::uint32_t>(most);
  return loop.reserve;
}

inline void put_in_reserve(LoopState& loop, std::uint64_t begin, std::uint64_t end) {
  HEARTH_ASSERT(loop.next == loop.end && begin <= end && end <= loop.units,
                "units [%" PRIu64 ", %" PRIu64 ") of %" PRIu64 ", while [%" PRIu64 ", %" PRIu64 ") is in the reserve",
                begin, end, loop.units, loop.next, loop.end);
  loop.next = begin * loop.unit;
  loop.end = end == loop.units ? loop.dealt : end * loop.unit;
}

/// Units so large that there are no more than `most`.
inline void count_units(LoopState& loop, std::uint64_t smallest, std::uint64_t most) {
  loop.unit = smallest;
  loop.units = ceil_div(loop.dealt, smallest);
  if (HEARTH_UNLIKELY(loop.units > most)) {
    const std::uint64_t together = ceil_div(loop.units, most);
    loop.unit = smallest * together;
    loop.units = ceil_div(loop.units, together);
  }
}

/// Somebody has found nothing left; a hint that saves looking at every member's range.
inline bool nothing_left(Team* team, std::uint32_t number) {
  return static_cast<std::int32_t>(
             team->workshares->exhausted[number % kSlots].load(std::memory_order_relaxed) - number) >= 0;
}

}  // namespace hearth::rt::ranges
