// Where tables of task constructs look for a function of the program. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::rt {

constexpr std::size_t kFunctionHashes = 256;

/// Below kFunctionHashes. Functions are aligned, and lie close together.
inline std::size_t function_hash(const void* function) {
  static_assert(kFunctionHashes == 1 << (64 - 56));
  return (reinterpret_cast<std::uintptr_t>(function) >> 4) * 0x9e3779b97f4a7c15 >> 56;
}

}  // namespace hearth::rt
