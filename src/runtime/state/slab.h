// Task descriptors: per-thread slabs in size classes.
//
// The owning thread allocates and frees on plain lists. A descriptor that another thread frees travels home
// in batches: the freeing thread chains descriptors of one home and gives the chain back with one
// compare-and-swap. Slabs are never returned to the system while the process lives, which makes descriptors
// type-stable.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cacheline.h"

namespace hearth::rt {

struct Task;
struct Thread;

struct Slab {
  static constexpr int kClasses = 5;  // payloads of up to 64, 192, 448, 960 and 1984 bytes
  static constexpr std::size_t payload_of(int size_class) { return (std::size_t{128} << size_class) - 64; }
  static constexpr int kBatch = 32;

  Task* free[kClasses] = {};
  char* fresh = nullptr;  // untouched rest of the current chunk
  char* fresh_end = nullptr;
  // Descriptors of another home, waiting to travel.
  Thread* away_home = nullptr;
  Task* away_head = nullptr;
  Task* away_tail = nullptr;
  int away_count = 0;

  alignas(kCacheLinePair) std::atomic<Task*> returned{nullptr};  // pushed by others, taken whole by the owner
};

/// Told of every chunk of memory for descriptors, by the thread that maps it; null: nobody asks. Set before the first
/// descriptor is made.
using SlabChunkListener = void (*)(void* begin, std::size_t bytes);
extern constinit SlabChunkListener on_slab_chunk;

/// A descriptor with room for `payload` bytes; what its last use left in its fields is still there. Never
/// null: when memory is refused the process is told and stopped. Caller: the thread itself.
Task* allocate_task(Thread* self, std::size_t payload);
void free_task(Thread* self, Task* task);
/// What these two do when the free list of the smallest class is empty, and for another thread's descriptor.
Task* allocate_task_slowly(Thread* self, std::size_t payload);
void free_task_slowly(Thread* self, Task* task);
/// The room behind the descriptor; 0 when it was too large for the size classes.
std::size_t payload_bytes(const Task& task);
/// Send home what waits in the outgoing batch (before the thread sleeps or leaves).
void flush_away(Thread* self);

}  // namespace hearth::rt
