// Detachable tasks: the end of the body and the fulfilment of the event race; the second to come finishes the
// task. An event handle is the task's descriptor, in both ABIs.
#pragma once

#include "runtime/task/tasking.h"

namespace hearth::rt {

/// The body has ended. True when the event is fulfilled already (the caller finishes the task); else whoever
/// fulfils it will.
inline bool body_ended_with_event_fulfilled(Task* task) {
  std::uint32_t state = kDetachRunning;
  // Acquire pairs with the release in fulfill_event(), so that what its caller wrote is visible to whoever
  // waits for the task.
  return !task->detach_state.compare_exchange_strong(state, kDetachBodyEnded, std::memory_order_acq_rel,
                                                     std::memory_order_acquire);
}

/// omp_fulfill_event. Any thread. The event of a task that was cancelled before it ran may be fulfilled too,
/// once: nothing waits for it.
void fulfill_event(Thread* self, Task* task);

/// Wait until no thread from outside is still in fulfill_event() for a task of some team: before a team is
/// freed.
void wait_for_outside_fulfillers();

}  // namespace hearth::rt
