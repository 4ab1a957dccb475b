// Parts: how the iterations of a remembered loop are cut into pieces that have a home each, and keys of loops. Pure arithmetic, on
// the path of each search for work, hence inline.
#pragma once

#include "runtime/loop/loop_affinity.h"
#include "runtime/loop/loop_ranges.h"

namespace hearth::rt {

inline constexpr std::uint32_t kNoPart = UINT32_MAX;

/// At most RememberedLoop::kMostParts.
inline std::uint32_t parts_of(std::uint64_t units) {
  return units < RememberedLoop::kMostParts ? static_cast<std::uint32_t>(units) : RememberedLoop::kMostParts;
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

/// Agrees with the other members on the RememberedLoop of the current instance. False: they are at a later instance already.
bool choose_remembered(Thread* self);

}  // namespace hearth::rt
