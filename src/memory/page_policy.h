// Makes the kernel place pages as a layout says. No state; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/homes.h"
#include "placement/distribution.h"

namespace hearth::memory {

/// For pages that were just committed, and that nobody has touched. False: the kernel has refused, so the layout does not hold.
bool apply_layout(const MemoryHomes& machine, const placement::Layout& layout, std::uint64_t begin, std::size_t bytes,
                  bool huge);

}  // namespace hearth::memory
