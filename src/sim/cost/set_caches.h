// SetCaches: what the set-associative cache of each location holds, where a model tells how many ways it has.
//
// Each extent stands where it was used last. Between two uses of a line, d bytes of other lines come into the
// cache; they fall upon the sets at random, and the line is still there if fewer than `ways` of them have met
// its set: a Poisson distribution of mean ways x d / capacity. So what fits is mostly kept and what does not
// is partly kept, unlike in SharedCaches, where the capacity is a cliff. Extents that overlap share their
// lines. A use walks the extents that the cache can still hold: for caches of tens or hundreds of extents.
// Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <vector>

#include "sim/cost/page_map.h"

namespace hearth::sim {

class SetCaches {
 public:
  /// `ways` 0: no cache keeps anything.
  SetCaches(std::size_t caches, std::uint64_t bytes, std::uint32_t ways);

  /// `cache` uses the extent: how many of its bytes it held. A write takes them away from all others.
  std::uint64_t use(std::size_t cache, const Extent& extent, bool write);

 private:
  struct Entry {
    Extent extent;
    std::uint64_t bytes;  // whose last use this was
  };
  static constexpr std::size_t kSteps = 256;  // of distance, up to twice the capacity

  double kept(std::uint64_t distance) const;

  std::uint64_t capacity_;
  std::vector<double> kept_;                // by steps of distance
  std::vector<std::vector<Entry>> caches_;  // the last use at the end
};

/// Bytes that both extents have.
std::uint64_t overlap(const Extent& one, const Extent& other);

}  // namespace hearth::sim
