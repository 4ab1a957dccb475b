// Called by waiting threads, each on its own Spinner.
#include "runtime/sync/wait.h"

#include <sched.h>

namespace hearth::rt {

constinit Contention contention;

void yield_cpu() { sched_yield(); }

bool Spinner::look_at_clock() {
  if (sleeps_at_once()) {
    // Often the awaited thread only needs this CPU for a moment, and then nobody has to be woken.
    if (!crowded() || turns_ > tuning::kYieldsBeforeSleep) return false;
    sched_yield();
    return true;
  }
  const std::int64_t limit = contention.spin_ns;
  // The awaited thread may sit on this very CPU, above all when it has just been created; without a yield it
  // would get there at the next timer tick.
  if ((turns_ & (tuning::kTurnsPerYield - 1)) == 0 || crowded()) sched_yield();
  if (limit == INT64_MAX) return true;
  const std::int64_t now = now_ns();
  if (deadline_ == 0) {
    deadline_ = now + limit;
    return true;
  }
  return now < deadline_;
}

}  // namespace hearth::rt
