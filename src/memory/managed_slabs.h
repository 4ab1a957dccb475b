// Slabs: regions of blocks of one size with one policy, from which most managed blocks come. Internal to managed memory; its
// lock guards the lists, and these functions take it.
#pragma once

#include <cstdint>

#include "memory/managed.h"
#include "memory/managed_regions.h"

namespace hearth::memory {

/// Can a block of this distribution, size and alignment come from a slab?
bool fits_slab(const ManagedRequest& request);

/// `home`: where the block's bytes are; kUnknown: unit by unit over all homes. Null: no memory.
void* allocate_in_slab(const MemoryHomes& machine, const ManagedRequest& request, Location home,
                       std::uint32_t home_index);

void release_to_slab(RegionId id, std::uint32_t index);

}  // namespace hearth::memory
