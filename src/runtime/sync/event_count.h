// How a thread of Hearth sleeps until somebody has news for it.
//
// An EventCount belongs to a team (or to a parked thread). Any thread of the process may notify; the team's
// threads wait. The awaited condition is not in here: a waiter announces itself, looks at its condition once
// more, and only then commits to sleep; a notifier first makes the condition true, then calls notify.
// docs/internals/sleeping.md argues why no wake-up is lost, and tests/models/event_count.pml checks it with
// explicit store buffers.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/assert.h"
#include "base/cacheline.h"
#include "base/cpu.h"
#include "base/futex.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {

class alignas(kCacheLinePair) EventCount {
 public:
  using Key = std::uint32_t;

  /// Announce that the caller is about to sleep. The caller then looks at its condition again, and calls
  /// commit() unless it holds.
  Key announce() {
    // Pairs with the release increments in notify_all() and notify_one(): whoever reads the new word
    // announces itself after the clearing that went before.
    const Key key = word_.load(std::memory_order_acquire);
    count_shared_write();
    announced_.store(true, std::memory_order_relaxed);
    // Pairs with the fence in asleep_after_fence(): either the notifier sees this announcement and bumps the
    // word, or the look that the caller now takes at its condition sees what the notifier published.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return key;
  }

  /// Sleep until notified after `key` was taken, or for `timeout`. May wake for nothing; the caller loops,
  /// and announces itself anew.
  void commit(Key key, const timespec* timeout = nullptr) {
    HEARTH_ASSERT(static_cast<std::int32_t>(word_.load(std::memory_order_relaxed) - key) >= 0,
                  "the word, %u, is behind %u, which the waiter has read", word_.load(std::memory_order_relaxed), key);
    futex_wait(word_, key, timeout);
  }

  /// Wake everybody who has announced himself, after the caller has made a condition true.
  void notify_all() {
    if (asleep_after_fence()) wake_all();
  }

  /// Wake one sleeper, if there is any.
  void notify_one() { notify_one_unless(false); }
  /// Or all of them when `rather_all`, which is read only if there is a sleeper.
  void notify_one_unless(const bool& rather_all) {
    if (!asleep_after_fence()) return;
    if (rather_all) return wake_all();
    count_shared_write();
    word_.fetch_add(1, std::memory_order_release);  // pairs with the acquire load in announce()
    if (futex_wake(word_, 1) == 0)
      wake_all();  // nobody was left: the next notifier shall not ask the kernel again
  }

  /// Whether anybody has announced himself since everybody was woken last.
  bool anybody_asleep() const { return announced_.load(std::memory_order_relaxed); }

  /// In a fork child: nobody else exists any more.
  void reset_after_fork() {
    announced_.store(false, std::memory_order_relaxed);
    word_.store(0, std::memory_order_relaxed);
  }

 private:
  bool asleep_after_fence() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fence in announce()
    return HEARTH_UNLIKELY(announced_.load(std::memory_order_relaxed));
  }

  // The sleepers' announcements are taken away by who wakes them, not by themselves: until they get a CPU
  // every notifier would ask the kernel to wake them once more. The word changes after that, so whose
  // announcement was taken does not sleep.
  void wake_all() {
    count_shared_write(2);
    announced_.store(false, std::memory_order_relaxed);
    word_.fetch_add(1, std::memory_order_release);  // pairs with the acquire load in announce()
    futex_wake(word_, INT_MAX);
  }

  std::atomic<bool> announced_{false};
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace hearth::rt
