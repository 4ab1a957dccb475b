// A worker's deque of ready tasks, after Chase and Lev (SPAA 2005) with the memory orders of Lê, Pop, Cohen
// and Zappa Nardelli (PPoPP 2013).
//
// The owner pushes and pops at the bottom, last in first out; any other thread of the team steals at the top,
// first in first out. docs/internals/children-and-deque.md says which fence pairs with which; tests/models/deque.pml
// checks it with store buffers. The ring grows by doubling; old rings are kept until the deque dies, since a
// thief may still read one. Whoever reads an entry without owning it (peek) may look at a descriptor that has
// been recycled: descriptors are type-stable, and what was concluded counts only if the claim that follows
// succeeds.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "base/cacheline.h"
#include "base/cpu.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {

struct Task;

#if defined(__SANITIZE_THREAD__)
#define HEARTH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEARTH_TSAN 1
#endif
#endif

class alignas(kCacheLinePair) Deque {
 public:
  Deque() = default;
  Deque(const Deque&) = delete;
  Deque& operator=(const Deque&) = delete;
  ~Deque() {
    for (Ring* ring = ring_.load(std::memory_order_relaxed); ring != nullptr;) {
      Ring* older = ring->older;
      std::free(ring);
      ring = older;
    }
  }

  /// Owner only. False when memory for a larger ring is refused; the caller then runs the task itself.
  bool push(Task* task) {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);
    Ring* ring = ring_.load(std::memory_order_relaxed);
    if (HEARTH_UNLIKELY(ring == nullptr || b - cached_top_ >= ring->capacity)) {
      cached_top_ = top_.load(std::memory_order_acquire);
      if (ring == nullptr || b - cached_top_ >= ring->capacity) {
        ring = grow(ring, b);
        if (ring == nullptr) return false;
      }
    }
    ring->at(b).store(task, std::memory_order_relaxed);
    // Pairs with the acquire load of bottom_ in steal(): the thief sees the entry and the task's fields.
    bottom_.store(b + 1, std::memory_order_release);
    return true;
  }

  /// Owner only. The newest task, unless `accept(task)` says no to it; null when there is none (or not that
  /// one).
  template <class Accept>
  Task* pop_if(Accept accept) {
    std::int64_t b = bottom_.load(std::memory_order_relaxed);
    if (b <= cached_top_ && b <= (cached_top_ = top_.load(std::memory_order_relaxed))) return nullptr;
    Ring* ring = ring_.load(std::memory_order_relaxed);
    --b;
    Task* task = ring->at(b).load(std::memory_order_relaxed);
    if (!accept(task)) return nullptr;
    std::int64_t t;
#ifdef HEARTH_TSAN
    bottom_.exchange(b, std::memory_order_seq_cst);
    t = top_.load(std::memory_order_seq_cst);
#else
    bottom_.store(b, std::memory_order_relaxed);
    // Pairs with the fence in steal(): owner and thief cannot both miss the other's move towards the last
    // entry.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    t = top_.load(std::memory_order_relaxed);
#endif
    cached_top_ = t;
    if (HEARTH_LIKELY(t < b)) return task;
    if (t == b) {
      count_shared_write();
      if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
        task = nullptr;
      cached_top_ = b + 1;
    } else {
      task = nullptr;
    }
    bottom_.store(b + 1, std::memory_order_relaxed);
    return task;
  }

  /// Any thread. The oldest task, unless `accept(task)` says no; `lost` is set when another thread was
  /// faster.
  template <class Accept>
  Task* steal_if(Accept accept, bool& lost) {
#ifdef HEARTH_TSAN
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    const std::int64_t b = bottom_.load(std::memory_order_seq_cst);
#else
    std::int64_t t = top_.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fence in pop_if()
    const std::int64_t b = bottom_.load(std::memory_order_acquire);
#endif
    if (t >= b) return nullptr;
    Ring* ring = ring_.load(std::memory_order_acquire);  // pairs with the release store in grow()
    Task* task = ring->at(t).load(std::memory_order_relaxed);
    if (!accept(task)) return nullptr;
    count_shared_write();
    if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) {
      lost = true;
      return nullptr;
    }
    return task;
  }

  /// A guess for anybody, exact for nobody.
  bool looks_empty() const {
    return bottom_.load(std::memory_order_relaxed) <= top_.load(std::memory_order_relaxed);
  }

  /// How many tasks wait, as a guess for anybody.
  std::uint32_t looks_long() const {
    const std::int64_t waiting =
        bottom_.load(std::memory_order_relaxed) - top_.load(std::memory_order_relaxed);
    return waiting <= 0 ? 0 : static_cast<std::uint32_t>(waiting);
  }

  /// Owner only: an upper bound of how many tasks wait, cheap because it reads the thieves' line only when it
  /// looks high.
  std::int64_t depth(std::int64_t interesting) {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);
    if (b - cached_top_ >= interesting) cached_top_ = top_.load(std::memory_order_relaxed);
    return b - cached_top_;
  }

 private:
  struct Ring {
    Ring* older;
    std::int64_t capacity;  // a power of two
    std::atomic<Task*>* entries() { return reinterpret_cast<std::atomic<Task*>*>(this + 1); }
    std::atomic<Task*>& at(std::int64_t i) { return entries()[i & (capacity - 1)]; }
  };
  static constexpr std::int64_t kFirstCapacity = 256;

  Ring* grow(Ring* old, std::int64_t b) {
    const std::int64_t capacity = old == nullptr ? kFirstCapacity : old->capacity * 2;
    auto* ring = static_cast<Ring*>(
        std::malloc(sizeof(Ring) + static_cast<std::size_t>(capacity) * sizeof(std::atomic<Task*>)));
    if (ring == nullptr) return nullptr;
    ring->older = old;
    ring->capacity = capacity;
    for (std::int64_t i = cached_top_; i < b; ++i)
      ring->at(i).store(old->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    ring_.store(ring, std::memory_order_release);
    return ring;
  }

  // The owner's line: thieves read bottom_ and ring_, the owner alone writes.
  std::atomic<std::int64_t> bottom_{0};
  std::int64_t cached_top_ = 0;  // the owner's last look at top_, never ahead of it
  std::atomic<Ring*> ring_{nullptr};
  // The thieves' line, apart so that stealing does not slow the owner's pushes.
  alignas(kCacheLinePair) std::atomic<std::int64_t> top_{0};
};

}  // namespace hearth::rt
