// The contended half of Lock: spin, sleep, starve, hand over. lock.h tells the word's bits and the protocol.
//
// Orders: as lock.h tells. Taking the lock, or claiming it when it is handed over, is an acquire operation on the word;
// it pairs with the release operation that freed it or handed it over.
#include "runtime/sync/lock.h"

#include <cerrno>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "policy/tuning.h"

namespace hearth::rt {

namespace {

// Two crowds on one futex word, told apart by the kernel's wake mask: a hand-over must wake one that may
// claim it.
constexpr std::uint32_t kCrowdSleepers = 1;
constexpr std::uint32_t kCrowdStarvers = 2;

std::int64_t clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// base/futex.h has no masks: only this lock needs two crowds. `until` is absolute on CLOCK_MONOTONIC;
// negative: no limit.
void sleep_in(std::uint32_t crowd, std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t until) {
  const int saved = errno;
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(until / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(until % 1'000'000'000);
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, seen, until < 0 ? nullptr : &limit, nullptr, crowd);
  errno = saved;
}

void wake_one_of(std::uint32_t crowd, std::atomic<std::uint32_t>& word) {
  const int saved = errno;
  syscall(SYS_futex, &word, FUTEX_WAKE_BITSET_PRIVATE, 1, nullptr, nullptr, crowd);
  errno = saved;
}

}  // namespace

void Lock::lock_slow() {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);

  // Look, do not write: a waiter that writes takes the line from the holder. The pause grows so that many
  // waiters do not all see the same unlock.
  const std::int32_t spins = lock_spins.load(std::memory_order_relaxed);
  for (std::int32_t spin = 0, pauses = 1; spin < spins; ++spin) {
    if ((seen & kLocked) == 0) {
      if (word_.compare_exchange_weak(seen, seen | kLocked, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return;
      continue;
    }
    for (std::int32_t i = 0; i < pauses; ++i) cpu_relax();
    if (pauses < 8) pauses *= 2;
    seen = word_.load(std::memory_order_relaxed);
  }

  const std::int64_t patience = clock_ns() + tuning::kStarvingNs;
  do {
    if ((seen & kLocked) == 0) {
      // With kSleepers: others may have been asleep when the bit was taken away at the unlock that woke us.
      if (word_.compare_exchange_weak(seen, seen | kLocked | kSleepers, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return;
      continue;
    }
    if ((seen & kSleepers) == 0 &&
        !word_.compare_exchange_weak(seen, seen | kSleepers, std::memory_order_relaxed,
                                     std::memory_order_relaxed))
      continue;
    sleep_in(kCrowdSleepers, word_, seen | kSleepers, patience);
    seen = word_.load(std::memory_order_relaxed);
  } while (clock_ns() < patience);

  // A wake-up that was meant for a sleeper may have come just as we ran out of patience: as starvers we keep
  // kSleepers set when we acquire, so the next unlock() wakes the next one.
  seen = word_.fetch_add(kStarver, std::memory_order_relaxed) + kStarver;
  for (;;) {
    HEARTH_ASSERT(seen >= kStarver, "a starver waits, and the word %#x counts none", seen);
    if ((seen & kHanded) != 0) {
      if (word_.compare_exchange_weak(seen, ((seen & ~kHanded) | kSleepers) - kStarver,
                                      std::memory_order_acquire, std::memory_order_relaxed))
        return;
      continue;
    }
    if ((seen & kLocked) == 0) {
      if (word_.compare_exchange_weak(seen, (seen | kLocked | kSleepers) - kStarver,
                                      std::memory_order_acquire, std::memory_order_relaxed))
        return;
      continue;
    }
    sleep_in(kCrowdStarvers, word_, seen, -1);
    seen = word_.load(std::memory_order_relaxed);
  }
}

void Lock::unlock_slow() {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    HEARTH_ASSERT((seen & (kLocked | kHanded)) == kLocked,
                  "whoever unlocks holds the lock, and has not handed it over: the word is %#x", seen);
    if (seen >= kStarver) {
      if (word_.compare_exchange_weak(seen, seen | kHanded, std::memory_order_release,
                                      std::memory_order_relaxed)) {
        wake_one_of(kCrowdStarvers, word_);
        return;
      }
    } else if (word_.compare_exchange_weak(seen, seen & ~(kLocked | kSleepers), std::memory_order_release,
                                           std::memory_order_relaxed)) {
      if ((seen & kSleepers) != 0) wake_one_of(kCrowdSleepers, word_);
      return;
    }
  }
}

}  // namespace hearth::rt
