// Detachable tasks: the end of the body and the fulfilment of the event race; the second to come finishes the
// task. An event handle is the task's descriptor, in both ABIs.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// omp_fulfill_event. Any thread. The event of a task that was cancelled before it ran may be fulfilled too,
/// once: nothing waits for it.
void fulfill_event(Thread* self, Task* task);

/// Wait until no thread from outside is still in fulfill_event() for a task of some team: before a team is
/// freed.
void wait_for_outside_fulfillers();

}  // namespace hearth::rt
