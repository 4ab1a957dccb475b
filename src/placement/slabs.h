// How blocks that are all at one location, or spread unit by unit over all, are cut from slabs: regions of
// blocks of one size, side by side. The runtime's managed memory does so, and the simulator lays its regions
// out alike, since where a block begins decides where its first page is. Constants and arithmetic.
#pragma once

#include <cstddef>

#include <algorithm>

#include "placement/owner_table.h"

namespace hearth::placement {

/// Larger blocks have a region of their own.
inline constexpr std::size_t kLargestInSlab = std::size_t{1} << 20;

// Powers of two below a page (so that none straddles pages), then whole pages, four steps to a doubling.
inline constexpr std::size_t kSlabPage = 4096;
inline constexpr std::size_t kSlabClasses[] = {
    // clang-format off
    64, 128, 256, 512, 1024, 2048,
    1 * kSlabPage, 2 * kSlabPage, 3 * kSlabPage, 4 * kSlabPage, 5 * kSlabPage, 6 * kSlabPage, 7 * kSlabPage, 8 * kSlabPage,
    10 * kSlabPage, 12 * kSlabPage, 14 * kSlabPage, 16 * kSlabPage, 20 * kSlabPage, 24 * kSlabPage,
    28 * kSlabPage, 32 * kSlabPage, 40 * kSlabPage, 48 * kSlabPage, 56 * kSlabPage, 64 * kSlabPage,
    80 * kSlabPage, 96 * kSlabPage, 112 * kSlabPage, 128 * kSlabPage,
    160 * kSlabPage, 192 * kSlabPage, 224 * kSlabPage, 256 * kSlabPage,
    // clang-format on
};
inline constexpr int kSlabClassCount = sizeof(kSlabClasses) / sizeof(kSlabClasses[0]);
static_assert(kSlabClasses[kSlabClassCount - 1] == kLargestInSlab);

/// The first class that holds such a block; -1: none does.
constexpr int slab_class_for(std::size_t size, std::size_t alignment) {
  for (int c = 0; c < kSlabClassCount; ++c)
    if (kSlabClasses[c] >= size && kSlabClasses[c] % alignment == 0) return c;
  return -1;
}

/// Of a list's next slab, when it has so many already: they grow, and hold whole blocks.
constexpr std::size_t slab_bytes(std::size_t block_bytes, unsigned before) {
  const std::size_t bytes = OwnerTable::kGranule << std::min(before, 5u);
  return bytes - bytes % block_bytes;
}

}  // namespace hearth::placement
