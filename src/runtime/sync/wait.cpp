// Called by waiting threads, each on its own Spinner.
#include "runtime/sync/wait.h"

#include <sched.h>

namespace hearth::rt {

constinit Contention contention;

void yield_cpu() { sched_yield(); }

bool Spinner::look_at_clock() {
  const std::int64_t limit = contention.spin_ns;
  const bool crowd = crowded();
  // Often the awaited thread only needs this CPU for a moment, and then nobody has to be woken.
  if (limit == 0 && (!crowd || turns_ > tuning::kYieldsBeforeSleep)) return false;
  // The awaited thread may sit on this very CPU, above all when it has just been created; without a yield it
  // would get there at the next timer tick.
  if ((turns_ & (tuning::kTurnsPerYield - 1)) == 0 || crowd) sched_yield();
  if (limit == 0 || limit == INT64_MAX) return true;
  const std::int64_t now = now_ns();
  if (deadline_ == 0) {
    deadline_ = now + limit;
    return true;
  }
  return now < deadline_;
}

}  // namespace hearth::rt
