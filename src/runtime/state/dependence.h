// One dependence of a task, as its depend clause names it. A value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::rt {

enum class DependKind : std::uint8_t { in, out, inout = out, mutexinoutset, inoutset };

struct Dependence {
  const void* address;  // null with all_memory
  std::size_t length;   // bytes; 0: unknown (gcc passes none)
  DependKind kind;
  bool all_memory;
};

}  // namespace hearth::rt
