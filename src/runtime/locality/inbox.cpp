#include "runtime/locality/inbox.h"

#include "base/assert.h"
#include "policy/tuning.h"

namespace hearth::rt {

bool Inbox::put(Task* task, bool created) {
  lock_.lock();
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (size == capacity_) {
    const std::uint32_t capacity = capacity_ == 0 ? 256 : capacity_ * 2;
    Task** ring = size >= tuning::kInboxRoom ? nullptr : static_cast<Task**>(std::malloc(capacity * sizeof(Task*)));
    if (ring == nullptr) {
      lock_.unlock();
      return false;
    }
    for (std::uint32_t i = 0; i < size; ++i) ring[i] = at(i);
    std::free(ring_);
    ring_ = ring;
    capacity_ = capacity;
    first_ = 0;
  }
  HEARTH_ASSERT(size < capacity_ && (capacity_ & (capacity_ - 1)) == 0, "%u tasks in room for %u", size, capacity_);
  HEARTH_ASSERT_INVARIANT(lock_.is_locked(), "a task is put without the lock; there are %u", size);
  at(size) = task;
  count_shared_write(2);
  size_.store(size + 1, std::memory_order_relaxed);
  if (created) {
    created_.store(created_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    dealt_.store(dealt_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else if (!released_.load(std::memory_order_relaxed)) {
    released_.store(true, std::memory_order_relaxed);
  }
  lock_.unlock();
  return true;
}

}  // namespace hearth::rt
