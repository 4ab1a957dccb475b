// HEARTH_EXPLAIN, `hearth run --explain`: what became of the tasks of each construct, told when the process ends.
//
// Counted behind events::active(), or by functions that only run while it is on, so that it costs nothing when it is off.
// Each thread counts for itself; the sums are made at the end. Of a construct that is unknown yet a thread publishes its
// counts by a release store; they are relaxed, and exact once the threads have left their teams. A child by fork() begins
// at zero and tells for itself.
#pragma once

#include <cstdint>

#include "placement/need.h"
#include "policy/why.h"
#include "runtime/state/thread.h"

namespace hearth::rt::explain {

/// Constant once the runtime is initialized.
extern bool on;

/// From initialize(); does nothing without HEARTH_EXPLAIN.
void start();
/// The task is made, by this thread.
[[gnu::cold]] void created(Thread* self, const Task* task);
/// The policy was not asked about the task, which has a footprint.
[[gnu::cold]] void not_asked(Thread* self, const Task* task, policy::Why why);
/// It was, and has answered; both times ns.
struct Answer {
  policy::Why why;
  std::uint64_t foretold;  // what it would lose elsewhere
  std::uint64_t took;      // to ask
};
[[gnu::cold]] void answered(Thread* self, Task* task, const Answer& answer);
/// The body is over; `mixed`: it has run other tasks meanwhile.
[[gnu::cold]] void ran(Thread* self, const Task* task, std::uint64_t ns, bool mixed);
/// The process ends.
void finish();
/// In a child by fork().
void forget_after_fork();

}  // namespace hearth::rt::explain
