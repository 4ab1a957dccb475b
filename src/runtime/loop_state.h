// What one member remembers of the worksharing loop that it is in. Written and read by that member alone.
#pragma once

#include <cstdint>

namespace hearth::rt {

struct WorkShare;

struct LoopState {
  WorkShare* share = nullptr;  // the construct's shared state; null for loops that need none
};

}  // namespace hearth::rt
