// The team's shared queue: tasks with a priority, tasks given back by threads that left a region, and every
// task of the `central` policy. A binary heap by priority, then age, under one lock; `size` may be read
// without it as a hint.
#pragma once

#include <cstdlib>

#include "base/log.h"
#include "runtime/state/team.h"

namespace hearth::rt {

void push_to_shared_queue(SharedQueue& queue, Task* task);
/// Remove entry `i` of the heap. Lock held.
Task* remove_from_shared_queue(SharedQueue& queue, std::uint32_t i);

/// The first acceptable task in priority order (of a heap: an acceptable one of the highest priority among
/// the first found).
template <class Accept>
Task* take_from_shared_queue(SharedQueue& queue, Accept accept) {
  Task* task = nullptr;
  queue.lock.lock();
  const std::uint32_t size = queue.size.load(std::memory_order_relaxed);
  std::uint32_t best = size;
  for (std::uint32_t i = 0; i < size; ++i) {
    Task* candidate = queue.heap[i];
    if (best < size &&
        (candidate->priority < queue.heap[best]->priority ||
         (candidate->priority == queue.heap[best]->priority && queue.age[i] > queue.age[best])))
      continue;
    if (!accept(candidate)) continue;
    best = i;
    if (i == 0) break;  // the top of the heap is first in order
  }
  if (best < size) task = remove_from_shared_queue(queue, best);
  queue.lock.unlock();
  return task;
}

}  // namespace hearth::rt
