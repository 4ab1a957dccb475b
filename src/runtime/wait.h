// How long to spin, and when to sleep.
//
// Spin while there is a core for everybody; under a quota sleep soon, and with more threads than cores after a yield or two,
// because a spinning thread burns the time that the awaited one needs. The limits come from OMP_WAIT_POLICY, KMP_BLOCKTIME and
// GOMP_SPINCOUNT.
#pragma once

#include <cstdint>
#include <ctime>

#include "base/cpu.h"
#include "runtime/event_count.h"
#include "runtime/runtime.h"

namespace hearth::rt {

inline std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

class Spinner {
 public:
  /// One turn; false when it is time to sleep.
  bool turn() {
    if (HEARTH_LIKELY((++turns_ & (look_ - 1)) != 0)) {
      cpu_relax();
      return true;
    }
    return look_at_clock();
  }
  void restart() { turns_ = 0, deadline_ = 0; }

 private:
  static constexpr std::uint32_t kLook = 64;
  static constexpr std::uint32_t kYieldsBeforeSleep = 2;
  static constexpr std::uint32_t kYield = 1024;  // some 25 us: waits of a busy team never get there
  // More threads want to run than there are CPUs: the awaited one may need this very core.
  static bool crowded() { return process.busy_threads.load(std::memory_order_relaxed) > process.cpus; }
  static bool sleeps_at_once() {
    return process.spin_ns == 0 || (crowded() && process.spin_ns != INT64_MAX);  // active means never
  }
  bool look_at_clock();
  const std::uint32_t look_ = sleeps_at_once() ? 1 : kLook;  // a power of two
  std::uint32_t turns_ = 0;
  std::int64_t deadline_ = 0;
};

/// Wait until `done()`; `help(last_look)` may do useful work and returns whether it did. The last look comes before the
/// thread sleeps: what it leaves undone there nobody may do.
template <class Done, class Help>
void wait_until(EventCount& events, Done done, Help help) {
  Spinner spinner;
  while (!done()) {
    if (help(false)) {
      spinner.restart();
      continue;
    }
    if (HEARTH_LIKELY(spinner.turn())) continue;
    const EventCount::Key key = events.announce();
    if (done() || help(true)) {
      spinner.restart();
      continue;
    }
    events.commit(key);
    spinner.restart();
  }
}

template <class Done>
void wait_until(EventCount& events, Done done) {
  wait_until(events, done, [](bool) { return false; });
}

}  // namespace hearth::rt
