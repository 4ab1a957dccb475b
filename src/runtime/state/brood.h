// Counts of the children of a task, and taskgroups.
//
// docs/internals/children-and-deque.md tells who counts what. Fields say who writes them.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace hearth::rt {

struct Thread;
struct Task;

/// Counts the children of a task (or the tasks of a taskgroup) that were made, finished and completed. The
/// thread that runs the owning task counts with plain stores; children that other threads ran count in
/// `elsewhere`.
struct Brood {
  static constexpr std::uint64_t kFinished = 1;                       // low half
  static constexpr std::uint64_t kComplete = std::uint64_t{1} << 32;  // high half
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 31;    // in `elsewhere`: no further children

  // Written by `owner` only. `here` is atomic because a barrier's primary thread reads it.
  std::atomic<Thread*> owner{nullptr};
  std::uint32_t spawned = 0;
  std::atomic<std::uint64_t> here{0};
  std::atomic<std::uint64_t> elsewhere{0};

  static std::uint32_t finished_of(std::uint64_t v) { return static_cast<std::uint32_t>(v & (kClosed - 1)); }
  static std::uint32_t complete_of(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

  void open(Thread* who) {
    spawned = 0;
    owner.store(who, std::memory_order_relaxed);
  }
  /// For the owner: one more. The counters are of no meaning before the first.
  void add() {
    HEARTH_ASSERT(spawned < kClosed, "%u children do not fit the count", spawned);
    if (spawned++ != 0) return;
    here.store(0, std::memory_order_relaxed);
    elsewhere.store(0, std::memory_order_relaxed);
  }
  /// For the owner.
  bool all_finished() const {
    if (spawned == 0) return true;
    const std::uint64_t h = here.load(std::memory_order_relaxed);
    if (finished_of(h) == spawned) return true;
    // Pairs with the release in count_in_brood(): what children did on other threads is seen. `here` is our own.
    const std::uint64_t e = elsewhere.load(std::memory_order_acquire);
    HEARTH_ASSERT(finished_of(h) + finished_of(e) <= spawned, "%u and %u of %u children have finished", finished_of(h),
                  finished_of(e), spawned);
    return finished_of(h) + finished_of(e) == spawned;
  }
  /// For anybody, once `spawned` cannot change any more.
  bool all_complete() const {
    if (spawned == 0) return true;
    // Both acquires pair with the releases in count_in_brood(), of the owner and of other threads.
    const std::uint64_t h = here.load(std::memory_order_acquire);
    return complete_of(h) == spawned ||
           complete_of(h) + complete_of(elsewhere.load(std::memory_order_acquire)) == spawned;
  }
};

struct Taskgroup {
  Brood brood;
  Taskgroup* outer =
      nullptr;           // the next outer group of the same task, or the group the task itself belongs to
  Task* task = nullptr;  // whose taskgroup construct this is
  std::atomic<bool> cancelled{false};
  struct Reductions* reductions = nullptr;    // task reductions of clang's programs (task_reduction.cpp)
  std::uintptr_t* gomp_reductions = nullptr;  // those of gcc's programs, in libgomp's layout
  bool worksharing =
      false;  // of a worksharing construct with task reductions: not what `cancel taskgroup` means
};

}  // namespace hearth::rt
