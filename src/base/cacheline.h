// Sizes by which fields are kept apart.
//
// kCacheLine is what the coherence protocol moves. kCacheLinePair is what the adjacent-line prefetcher of x86
// moves and what some ARM cores use as a line: fields that different threads write are kept this far apart
// when the write is hot. Constants, not probes: the layout of a type is fixed at compile time.
#pragma once

#include <cstddef>

namespace hearth {

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kCacheLinePair = 128;

}  // namespace hearth
