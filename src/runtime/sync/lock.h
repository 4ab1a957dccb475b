// The lock under everything that locks: omp_lock_t, critical, atomic, and the runtime's own short sections.
//
// Four bytes, zero is unlocked, no constructor needed: it lives inside omp_lock_t (4 bytes in gcc's omp.h),
// inside the zeroed storage that compilers give to a critical section, and in our own structures. Any thread;
// any thread may unlock.
//
// Barging: whoever comes first after an unlock gets it, so a thread that locks again at once keeps the line
// in its cache (8 to 15 acquisitions per change of owner, against 1 for a queue). A waiter spins briefly,
// then sleeps on the word. One that has waited kStarving becomes a starver: as long as there is one, unlock()
// hands the lock over instead of freeing it, so that nobody waits for ever. The word:
//
//   bit 0      locked
//   bit 1      sleepers: somebody may sleep who is no starver; unlock() wakes one
//   bit 2      handed: locked, and belongs to whichever starver claims it first
//   bits 3..   number of starvers
//
// No wake-up is lost: a waiter sleeps only while the word has the value it saw, and every value with a waiter
// in it sends unlock() down the slow path. Whoever acquires after having slept sets `sleepers` again, since
// others may still sleep.
//
// Orders: acquiring is an acquire operation, unlocking a release operation on the word; they pair with each other, and
// nothing else is promised.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "base/cpu.h"

namespace hearth::rt {

class Lock {
 public:
  constexpr Lock() = default;

  void lock() {
    std::uint32_t expected = 0;
    if (HEARTH_UNLIKELY(!word_.compare_exchange_strong(expected, kLocked, std::memory_order_acquire,
                                                       std::memory_order_relaxed)))
      lock_slow();
  }

  bool try_lock() {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & kLocked) == 0) {
      if (word_.compare_exchange_weak(seen, seen | kLocked, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  void unlock() {
    HEARTH_ASSERT(is_locked(), "nobody holds the lock at %p: its word is %#x", static_cast<void*>(this),
                  word_.load(std::memory_order_relaxed));
    std::uint32_t expected = kLocked;
    if (HEARTH_UNLIKELY(!word_.compare_exchange_strong(expected, 0, std::memory_order_release,
                                                       std::memory_order_relaxed)))
      unlock_slow();
  }

  /// The same for a lock that may have been reset since it was locked, as by a fork.
  void unlock_unless_free() {
    std::uint32_t expected = kLocked;
    if (HEARTH_UNLIKELY(!word_.compare_exchange_strong(expected, 0, std::memory_order_release,
                                                       std::memory_order_relaxed)) &&
        expected != 0)
      unlock_slow();
  }

  /// Whether anybody holds it; a hint for anybody but the holder.
  bool is_locked() const { return (word_.load(std::memory_order_relaxed) & kLocked) != 0; }

  /// Forget everything: for omp_init_lock, and for the child of a fork, whose waiters do not exist.
  void reset() { word_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kLocked = 1;
  static constexpr std::uint32_t kSleepers = 2;
  static constexpr std::uint32_t kHanded = 4;
  static constexpr std::uint32_t kStarver = 8;

  [[gnu::cold, gnu::noinline]] void lock_slow();
  [[gnu::cold, gnu::noinline]] void unlock_slow();

  std::atomic<std::uint32_t> word_{0};
};
static_assert(sizeof(Lock) == 4, "gcc's omp_lock_t has four bytes");

/// How often a waiter looks before it sleeps. The runtime lowers it where spinning takes the CPU from the
/// holder (fewer CPUs than threads, a CPU quota, OMP_WAIT_POLICY=passive); it may change at any time.
inline constinit std::atomic<std::int32_t> lock_spins{64};

class LockGuard {
 public:
  explicit LockGuard(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

/// The nestable lock: eight bytes (clang's omp_nest_lock_t and gcc's old one), zero is unlocked.
///
/// The second word holds the owner and how often it has the lock. Only the holder writes it; others read it
/// to find that they are not the owner, for which any value will do that they did not write. The owner is a
/// task (OpenMP 3.0 on): an inner region of one thread is not the owner of what the task around it holds.
/// Tasks have no small number, but a thread's tasks in progress lie one below the other: thread and depth
/// name them.
///
/// The word counts to kMost. A holder that has the lock more often keeps the rest of its count, in parts of
/// kMost, in a list beside (nest_lock.cpp), and `kDeep` says so.
class NestLock {
 public:
  constexpr NestLock() = default;

  /// The owner's number: the caller's Thread::gtid and the depth of its current task.
  static std::uint32_t owner(std::int32_t gtid, std::uint32_t task_depth) {
    return static_cast<std::uint32_t>(gtid) << kTaskBits | (task_depth & ((1u << kTaskBits) - 1));
  }

  /// The new nesting depth. `who` is owner().
  std::uint32_t lock(std::uint32_t who) {
    if (owned_by(who)) return nest();
    lock_.lock();
    return own(who);
  }

  /// 0: somebody else has it.
  std::uint32_t try_lock(std::uint32_t who) {
    if (owned_by(who)) return nest();
    return lock_.try_lock() ? own(who) : 0;
  }

  /// The remaining depth; 0: unlocked. Only for the owner.
  std::uint32_t unlock() {
    HEARTH_ASSERT((owner_.load(std::memory_order_relaxed) & kMost) != 0,
                  "nobody holds the nestable lock at %p: its second word is %#x", static_cast<void*>(this),
                  owner_.load(std::memory_order_relaxed));
    const std::uint32_t left = owner_.load(std::memory_order_relaxed) - 1;
    if (HEARTH_UNLIKELY((left & kDeep) != 0)) return unlock_deep(left);
    if ((left & kMost) != 0) {
      owner_.store(left, std::memory_order_relaxed);
      return left & kMost;
    }
    owner_.store(0, std::memory_order_relaxed);
    lock_.unlock();
    return 0;
  }

  void reset() {
    owner_.store(0, std::memory_order_relaxed);
    lock_.reset();
  }

 private:
  static constexpr std::uint32_t kDepthBits = 11;
  static constexpr std::uint32_t kMost = (1u << kDepthBits) - 1;
  static constexpr std::uint32_t kDeep = 1u << kDepthBits;
  static constexpr std::uint32_t kOwnerShift = kDepthBits + 1;
  static constexpr std::uint32_t kTaskBits = 4;
  static constexpr std::uint32_t kMaxOwners = (1u << (32 - kOwnerShift)) - 1;

  static std::uint32_t tag(std::uint32_t who) { return who % kMaxOwners + 1; }
  bool owned_by(std::uint32_t who) const {
    return owner_.load(std::memory_order_relaxed) >> kOwnerShift == tag(who);
  }
  std::uint32_t own(std::uint32_t who) {
    HEARTH_ASSERT(owner_.load(std::memory_order_relaxed) == 0,
                  "owner %u has taken the lock at %p, and the last one is still there: %#x", who,
                  static_cast<void*>(this), owner_.load(std::memory_order_relaxed));
    owner_.store(tag(who) << kOwnerShift | 1, std::memory_order_relaxed);
    return 1;
  }
  std::uint32_t nest() {
    const std::uint32_t held = owner_.load(std::memory_order_relaxed);
    if (HEARTH_UNLIKELY((held & kDeep) != 0 || (held & kMost) == kMost)) return nest_deep(held);
    owner_.store(held + 1, std::memory_order_relaxed);
    return (held + 1) & kMost;
  }
  [[gnu::cold, gnu::noinline]] std::uint32_t nest_deep(std::uint32_t held);
  [[gnu::cold, gnu::noinline]] std::uint32_t unlock_deep(std::uint32_t left);

  Lock lock_;
  std::atomic<std::uint32_t> owner_{0};
};
static_assert(sizeof(NestLock) == 8, "clang's omp_nest_lock_t has eight bytes");

/// In the child of a fork: nobody is in the list of deep nests.
void free_deep_nests_after_fork();

}  // namespace hearth::rt
