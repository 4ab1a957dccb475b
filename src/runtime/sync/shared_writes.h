// Counting writes to lines that several threads use, in the build that -DHEARTH_COUNT_SHARED_WRITES makes.
//
// Two cores say nothing about 96, but the number of writes to shared lines per construct does:
// docs/results/scaling.md shows it for 2 to 64 threads. Each thread counts for itself; in every other build the calls
// vanish.
#pragma once

#include <cstdint>

namespace hearth::rt {

#ifdef HEARTH_COUNT_SHARED_WRITES
void count_shared_write(std::uint64_t n = 1);
#else
inline void count_shared_write(std::uint64_t = 1) {}
#endif

}  // namespace hearth::rt
