// The inbox of a location in a team: tasks that were dealt there because their data lives there.
//
// Any member puts and takes, under the inbox's lock. `size` and the counts may be read without it, as hints.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "base/assert.h"
#include "base/cacheline.h"
#include "placement/need.h"
#include "policy/shares.h"
#include "policy/task_policy.h"
#include "policy/tuning.h"
#include "runtime/state/task.h"
#include "runtime/sync/lock.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {

using placement::Location;

/// Tasks dealt to a location, first in, first out. Whoever takes one may step over those that it may not run.
class alignas(kCacheLinePair) Inbox {
 public:
  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() { std::free(ring_); }

  std::uint32_t size() const { return size_.load(std::memory_order_relaxed); }

  /// Tasks that were put here as they were created, ever, and how long tasks take that have a footprint and
  /// run here (ns; 0: not known). Hints.
  std::uint32_t created() const { return created_.load(std::memory_order_relaxed); }
  std::uint64_t task_time() const { return task_time_.load(std::memory_order_relaxed); }
  /// What a task that was dealt here would have lost elsewhere, a mean (LoadView::stake).
  std::uint64_t stake() const { return stake_.load(std::memory_order_relaxed); }
  void note_stake(std::uint64_t stake) {
    const std::uint64_t mean = this->stake();
    const std::uint64_t now = policy::running_mean(mean, stake);
    if (now == mean) return;
    count_shared_write();
    stake_.store(now, std::memory_order_relaxed);
  }
  void note_task_time(std::uint64_t time) {
    count_shared_write();
    task_time_.store(policy::running_mean(task_time(), time), std::memory_order_relaxed);
  }

  /// This location's part of the present dealing. A hint.
  policy::Share share() const {
    return {.dealt = dealt_.load(std::memory_order_relaxed),
            .stolen = stolen_.load(std::memory_order_relaxed),
            .before = dealt_before_.load(std::memory_order_relaxed),
            .released = released_.load(std::memory_order_relaxed)};
  }
  /// `released`: some were at some location in the dealing that is over.
  void begin_dealing(bool released) {
    dealt_before_.store(released ? 0 : dealt_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    released_.store(false, std::memory_order_relaxed);
    dealt_.store(0, std::memory_order_relaxed);
    stolen_.store(0, std::memory_order_relaxed);
  }
  /// By its workers from another location, or -1: from it.
  void count_stolen(std::int32_t tasks) {
    count_shared_write();
    stolen_.fetch_add(tasks, std::memory_order_relaxed);
  }

  /// `created`: by the task that makes it, and not by one that it has waited for. False when the inbox is
  /// full.
  bool put(Task* task, bool created);

  /// The oldest task that `accept(task)` says yes to, or null.
  template <class Accept>
  Task* take(Accept accept) {
    if (size() == 0) return nullptr;
    lock_.lock();
    Task* task = nullptr;
    const std::uint32_t size = size_.load(std::memory_order_relaxed);
    HEARTH_ASSERT(size <= capacity_ && capacity_ <= tuning::kInboxRoom, "%u tasks in room for %u", size, capacity_);
    for (std::uint32_t i = 0; i < size; ++i) {
      Task* candidate = at(i);
      HEARTH_ASSERT(candidate != nullptr && !candidate->is(kTaskFree), "entry %u of %u is no task that waits: %p", i,
                    size, static_cast<void*>(candidate));
      if (!accept(candidate)) continue;
      task = candidate;
      for (; i > 0; --i) at(i) = at(i - 1);
      ++first_;
      count_shared_write(2);
      size_.store(size - 1, std::memory_order_relaxed);
      break;
    }
    lock_.unlock();
    return task;
  }

  void reset_after_fork() { lock_.reset(); }

 private:
  Task*& at(std::uint32_t i) { return ring_[(first_ + i) & (capacity_ - 1)]; }

  Lock lock_;
  std::atomic<std::uint32_t> size_{0};
  std::atomic<std::uint32_t> created_{0};
  std::atomic<std::int32_t> dealt_{0};  // these make a policy::Share
  std::atomic<std::int32_t> dealt_before_{0};
  std::atomic<std::int32_t> stolen_{0};
  std::atomic<bool> released_{false};
  std::atomic<std::uint64_t> task_time_{0};
  std::atomic<std::uint64_t> stake_{0};
  std::uint32_t first_ = 0;
  std::uint32_t capacity_ = 0;  // a power of two
  Task** ring_ = nullptr;
};

}  // namespace hearth::rt
