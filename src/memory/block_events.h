// Blocks of managed memory that come and go, for who wants to know of them, and for whom they are: those of the ABI's
// allocators, not of malloc's takeover, whose blocks are seen where malloc is called. Any thread, relaxed.
#pragma once

#include <atomic>
#include <cstddef>

#include "placement/distribution.h"

namespace hearth::memory {

struct BlockNote {
  const void* begin = nullptr;
  std::size_t bytes = 0;  // 0: it is about to be freed
  placement::Kind kind = placement::Kind::standard;
  const void* caller = nullptr;  // the code that asked for it, if an entry point has said so
};
using BlockObserver = void (*)(const BlockNote& note);
/// Null: nobody. Called without locks, in the thread that allocates or frees. Set before the program's first region.
extern std::atomic<BlockObserver> block_observer;

/// The code of the program for which the library allocates just now, in this thread; null: nobody else's.
extern constinit thread_local const void* allocating_for __attribute__((tls_model("initial-exec")));
class AllocatingFor {
 public:
  explicit AllocatingFor(const void* caller) { allocating_for = caller; }
  ~AllocatingFor() { allocating_for = nullptr; }
  AllocatingFor(const AllocatingFor&) = delete;
  AllocatingFor& operator=(const AllocatingFor&) = delete;
};

/// In an entry point: what it allocates is for the program's call.
#define HEARTH_ALLOCATES_FOR_CALLER const ::hearth::memory::AllocatingFor hearth_for_caller(__builtin_return_address(0))

}  // namespace hearth::memory
