// How iterations are cut: into the blocks of a static schedule, and into the parts of a remembered loop, which have a home each.
// And keys of loops. Pure arithmetic, on the path of each search for work, hence inline.
#pragma once

#include <cstdint>

#include "runtime/state/loop_state.h"

namespace hearth::rt {

/// The iterations [first, end) of member `tid`, of `members`, in a static schedule without a chunk.
struct Block {
  std::uint64_t first, end;
};
inline Block static_block(std::uint64_t trip, std::uint64_t tid, std::uint64_t members) {
  const std::uint64_t small = trip / members, larger = trip % members;
  const std::uint64_t first = tid * small + (tid < larger ? tid : larger);
  return {first, first + small + (tid < larger ? 1 : 0)};
}

/// The same where members differ: `before` and `own` of a `total` weight, of at most 2^32. Each iteration is in exactly one
/// block: one block's end is the next one's beginning, rounded in the same way.
inline Block weighted_block(std::uint64_t trip, std::uint32_t before, std::uint32_t own, std::uint32_t total) {
  __extension__ using Wide = unsigned __int128;
  const auto part = [&](std::uint64_t weight) { return static_cast<std::uint64_t>(static_cast<Wide>(trip) * weight / total); };
  return {part(before), part(std::uint64_t{before} + own)};
}

inline constexpr std::uint32_t kMostLoopParts = 256;
inline constexpr std::uint32_t kNoPart = UINT32_MAX;

inline std::uint32_t parts_of(std::uint64_t units) {
  return units < kMostLoopParts ? static_cast<std::uint32_t>(units) : kMostLoopParts;
}

inline Block part(const LoopState& loop, std::uint32_t i) { return static_block(loop.units, i, loop.parts); }

/// Which of `parts` blocks of `units` holds the unit: static_block() the other way round.
inline std::uint64_t block_holding(std::uint64_t unit, std::uint64_t units, std::uint64_t parts) {
  const std::uint64_t small = units / parts, larger = units % parts;
  const std::uint64_t in_larger = larger * (small + 1);
  return unit < in_larger ? unit / (small + 1) : larger + (unit - in_larger) / small;
}

/// One value more in the key of a loop.
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

}  // namespace hearth::rt
