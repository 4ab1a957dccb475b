// What the program gets from its allocator, so that footprints can be told apart by allocation.
//
// `hearth record` also preloads libhearth-record.so, whose malloc and its kin call the next ones and note large blocks; its
// free and realloc note when they go. Any thread of the program comes here.
#pragma once

#include <cstdint>

namespace hearth::record {

/// Smaller blocks share pages with others, and no distribution moves them.
inline constexpr std::size_t kNotedAllocation = 4096;

struct AllocationNote {
  std::uint64_t ticks, address, bytes, code;
};

/// From now on each block goes to `sink`, in the thread that allocates; those before it go there at once, as far as there
/// was room. Once.
void deliver_allocations(void (*sink)(const AllocationNote&));
/// From now on `sink` hears of each noted block that is about to be freed, in the thread that frees it. Once.
void deliver_frees(void (*sink)(std::uint64_t address, std::uint64_t bytes));

}  // namespace hearth::record
