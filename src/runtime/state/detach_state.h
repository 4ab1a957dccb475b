// The race between the end of a detachable task's body and its event: the second to come finishes the task (task/detach.h).
#pragma once

#include "runtime/state/task.h"

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

}  // namespace hearth::rt
