// A worker's deque of ready tasks, after Chase and Lev (SPAA 2005) with the memory orders of Lê, Pop, Cohen
// and Zappa Nardelli (PPoPP 2013).
//
// The owner pushes and pops at the bottom, last in first out; any other thread of the team steals at the top,
// first in first out. docs/internals/children-and-deque.md says which fence pairs with which; tests/models/deque.pml
// checks it with store buffers. The ring grows by doubling; old rings are kept until the deque dies, since a
// thief may still read one. A thief that reads an entry before it owns it may look at a descriptor that has been
// recycled: descriptors are type-stable, and what was concluded counts only if the claim that follows
// succeeds.
#pragma once

#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdlib>

#include "base/assert.h"
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
    [[maybe_unused]] const OwnersTurn turn(*this);
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);
    HEARTH_ASSERT(task != nullptr && cached_top_ <= b,
                  "the deque has its top at %" PRId64 " and its bottom at %" PRId64, cached_top_, b);
    Ring* ring = ring_.load(std::memory_order_relaxed);
    if (HEARTH_UNLIKELY(ring == nullptr || b - cached_top_ >= ring->capacity)) {
      // Pairs with the thief's compare-and-swap of top_: it has read its entry before this push writes there again.
      cached_top_ = top_.load(std::memory_order_acquire);
      if (ring == nullptr || b - cached_top_ >= ring->capacity) {
        ring = grow(ring, b);
        if (ring == nullptr) return false;
      }
    }
    HEARTH_ASSERT_INVARIANT(b - top_.load(std::memory_order_relaxed) < ring->capacity,
                            "%" PRId64 " tasks in a ring of %" PRId64, b - top_.load(std::memory_order_relaxed),
                            ring->capacity);
    ring->at(b).store(task, std::memory_order_relaxed);
    // Pairs with the acquire load of bottom_ in steal_if(): the thief sees the entry and the task's fields.
    bottom_.store(b + 1, std::memory_order_release);
    return true;
  }

  /// Owner only. The newest task, unless `accept(task)` says no to it; null when there is none (or not that
  /// one).
  template <class Accept>
  Task* pop_if(Accept accept) {
    [[maybe_unused]] const OwnersTurn turn(*this);
    std::int64_t b = bottom_.load(std::memory_order_relaxed);
    if (b <= cached_top_ && b <= (cached_top_ = top_.load(std::memory_order_relaxed))) return nullptr;
    Ring* ring = ring_.load(std::memory_order_relaxed);
    --b;
    Task* task = ring->at(b).load(std::memory_order_relaxed);
    if (!accept(task)) return nullptr;
    std::int64_t t;
#ifdef HEARTH_TSAN
    // In place of the fence below: pairs with the sequentially consistent loads in steal_if().
    bottom_.exchange(b, std::memory_order_seq_cst);
    t = top_.load(std::memory_order_seq_cst);
#else
    bottom_.store(b, std::memory_order_relaxed);
    // Pairs with the fence in steal_if(): owner and thief cannot both miss the other's move towards the last
    // entry.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    t = top_.load(std::memory_order_relaxed);
#endif
    HEARTH_ASSERT(cached_top_ <= t && t <= b + 1,
                  "the top went from %" PRId64 " to %" PRId64 ", the bottom is %" PRId64, cached_top_, t, b);
    cached_top_ = t;
    if (HEARTH_LIKELY(t < b)) return task;
    if (t == b) {
      count_shared_write();
      // Pairs with the thieves' compare-and-swap in steal_if(): one of them takes the last entry.
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
    // In place of the fence below: pairs with the exchange in pop_if().
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
    HEARTH_ASSERT(task != nullptr, "entry %" PRId64 " was stolen, and is empty", t);
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

  // Where assertions are on: no two threads are in the owner's functions at once.
  class OwnersTurn {
   public:
    explicit OwnersTurn([[maybe_unused]] Deque& deque) {
#if HEARTH_ASSERT_LEVEL > 0
      deque_ = &deque;
      const bool taken = deque.owner_is_in_.exchange(true, std::memory_order_relaxed);
      HEARTH_ASSERT(!taken, "two threads use the deque at %p as its owners", static_cast<void*>(&deque));
#endif
    }
    OwnersTurn(const OwnersTurn&) = delete;
    OwnersTurn& operator=(const OwnersTurn&) = delete;
#if HEARTH_ASSERT_LEVEL > 0
    ~OwnersTurn() { deque_->owner_is_in_.store(false, std::memory_order_relaxed); }

   private:
    Deque* deque_;
#endif
  };

  Ring* grow(Ring* old, std::int64_t b) {
    HEARTH_ASSERT(old == nullptr || b - cached_top_ <= old->capacity, "%" PRId64 " tasks in a ring of %" PRId64,
                  b - cached_top_, old->capacity);
    const std::int64_t capacity = old == nullptr ? kFirstCapacity : old->capacity * 2;
    auto* ring = static_cast<Ring*>(
        std::malloc(sizeof(Ring) + static_cast<std::size_t>(capacity) * sizeof(std::atomic<Task*>)));
    if (ring == nullptr) return nullptr;
    ring->older = old;
    ring->capacity = capacity;
    for (std::int64_t i = cached_top_; i < b; ++i)
      ring->at(i).store(old->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    ring_.store(ring, std::memory_order_release);  // pairs with the acquire load in steal_if(): the entries are there
    return ring;
  }

  // The owner's line: thieves read bottom_ and ring_, the owner alone writes.
  std::atomic<std::int64_t> bottom_{0};
  std::int64_t cached_top_ = 0;  // the owner's last look at top_, never ahead of it
  std::atomic<Ring*> ring_{nullptr};
#if HEARTH_ASSERT_LEVEL > 0
  std::atomic<bool> owner_is_in_{false};
#endif
  // The thieves' line, apart so that stealing does not slow the owner's pushes.
  alignas(kCacheLinePair) std::atomic<std::int64_t> top_{0};
};

}  // namespace hearth::rt
