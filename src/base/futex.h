// The kernel's wait queue on a 32-bit word, private to this process.
//
// Callable from any thread. Neither function orders memory by itself beyond what the kernel's look at the
// word gives: the protocol around it (store the word, then wake; load the word, then wait) belongs to the
// caller, who documents it.
#pragma once

#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

#include <atomic>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t),
              "the kernel looks at the bare word");

/// Sleep while `word` holds `expected`. Returns 0 when woken, else the errno: EAGAIN (the word had already
/// changed), EINTR (a signal) or ETIMEDOUT. May also return 0 without a wake. `timeout` is relative; null
/// waits for ever. errno is kept.
inline int futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      const timespec* timeout = nullptr) {
  const int saved = errno;
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0);
  const int error = result == 0 ? 0 : errno;
  errno = saved;
  return error;
}

/// Wake at most `count` of those asleep on `word` (INT_MAX: all). Returns how many were woken. errno is kept.
inline int futex_wake(std::atomic<std::uint32_t>& word, int count) {
  const int saved = errno;
  const long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
  errno = saved;
  return woken < 0 ? 0 : static_cast<int>(woken);
}

}  // namespace hearth
