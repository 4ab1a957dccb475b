// How a thread of Hearth sleeps until somebody has news for it.
//
// An EventCount belongs to a team (or to a parked thread). Any thread of the process may notify; the team's
// threads wait. The awaited condition is not in here: a waiter announces itself, looks at its condition once
// more, and only then commits to sleep; a notifier first makes the condition true, then calls notify.
// README.md in this folder argues why no wake-up is lost, and tests/models/event_count.pml checks it with
// explicit store buffers.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/cacheline.h"
#include "base/futex.h"
#include "runtime/shared_writes.h"

namespace hearth::rt {

class alignas(kCacheLinePair) EventCount {
 public:
  using Key = std::uint32_t;

  /// Announce that the caller is about to sleep. The caller then looks at its condition again, and calls
  /// commit() or cancel().
  Key announce() {
    count_shared_write();
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    // Pairs with the fence in notify(): either the notifier sees this sleeper and bumps the word, or the look
    // that the caller now takes at its condition sees what the notifier published.
    const Key key = word_.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return key;
  }

  void cancel() {
    count_shared_write();
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Sleep until notified after `key` was taken. May wake for nothing; the caller loops.
  void commit(Key key) {
    futex_wait(word_, key);
    cancel();
  }

  /// Wake one sleeper, if there is any, after the caller has made a condition true.
  void notify_one() { notify(1); }
  void notify_all() { notify(INT_MAX); }

  bool anybody_asleep() const { return sleepers_.load(std::memory_order_relaxed) != 0; }

  /// In a fork child: nobody else exists any more.
  void reset_after_fork() {
    sleepers_.store(0, std::memory_order_relaxed);
    word_.store(0, std::memory_order_relaxed);
  }

 private:
  void notify(int count) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fence in announce()
    if (sleepers_.load(std::memory_order_relaxed) == 0) return;
    count_shared_write();
    word_.fetch_add(1, std::memory_order_relaxed);
    futex_wake(word_, count);
  }

  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace hearth::rt
