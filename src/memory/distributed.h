// Distributed blocks as <hearth/hearth.h> promises them: managed memory where that is possible, else malloc's. A block of managed
// memory is told from malloc's by its address, so releasing and resizing take both. Any thread.
#pragma once

#include <cstddef>

#include "memory/managed.h"

namespace hearth::memory {

/// Null: no memory, size 0, or an alignment that is no power of two. `standard` is malloc's, and so is what cannot be
/// distributed (said once).
void* allocate_distributed(const ManagedRequest& request);
/// Null is allowed.
void release_distributed(void* block);
/// Keeps the block's distribution. Size 0 releases it and returns null; null otherwise: it is as before.
void* resize_distributed(void* block, std::size_t size);

}  // namespace hearth::memory
