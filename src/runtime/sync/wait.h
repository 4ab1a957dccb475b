// How long to spin, and when to sleep.
//
// Spin while there is a core for everybody; with more threads than cores yield instead, because a spinning thread burns the
// time that the awaited one needs, and a woken one takes the core from whoever works; under a quota sleep soon. The limits
// come from OMP_WAIT_POLICY, KMP_BLOCKTIME and GOMP_SPINCOUNT.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "base/cpu.h"
#include "policy/tuning.h"
#include "runtime/sync/event_count.h"

namespace hearth::rt {

/// Who competes for how many CPUs. Constant after start-up, but for the count.
struct Contention {
  std::atomic<std::int32_t> busy_threads{0};  // threads in teams, the program's own included
  std::int32_t cpus = 1;                      // what this process may use: cpuset and quota
  std::int64_t spin_ns = 0;  // how long to spin before sleeping when there is a core for everybody
};
extern constinit Contention contention;

/// More threads want to run than there are CPUs: an awaited one may need this very core.
inline bool crowded() { return contention.busy_threads.load(std::memory_order_relaxed) > contention.cpus; }

/// sched_yield(), when spinning would take the core from the thread that is waited for.
void yield_cpu();

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
  bool look_at_clock();
  const std::uint32_t look_ = contention.spin_ns == 0 || crowded() ? 1 : tuning::kTurnsPerLook;  // a power of two
  std::uint32_t turns_ = 0;
  std::int64_t deadline_ = 0;
};

/// What a look for useful work came to.
enum class Look : std::uint8_t {
  nothing,
  worked,
  too_soon,  // there is some, which others ought to do, but not for long
};

/// Wait until `done()`; `help(last_look)` may do useful work. The last look comes before the thread sleeps:
/// what it leaves undone there nobody may do, unless it says too_soon. Then the thread only takes a nap.
template <class Done, class Help>
void wait_until(EventCount& events, Done done, Help help) {
  constexpr timespec kNap = {0, tuning::kNapNs};
  Spinner spinner;
  while (!done()) {
    if (help(false) == Look::worked) {
      spinner.restart();
      continue;
    }
    if (HEARTH_LIKELY(spinner.turn())) continue;
    const EventCount::Key key = events.announce();
    Look last = Look::nothing;
    if (done() || (last = help(true)) == Look::worked) {
      spinner.restart();
      continue;
    }
    events.commit(key, last == Look::too_soon ? &kNap : nullptr);
    spinner.restart();
  }
}

template <class Done>
void wait_until(EventCount& events, Done done) {
  wait_until(events, done, [](bool) { return Look::nothing; });
}

}  // namespace hearth::rt
