// The team barrier and the join. docs/internals/barrier.md gives the protocol.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// Wait for the whole team and run its tasks meanwhile; all tasks of the team are complete when it returns.
/// Returns true when `cancellable` and the region was cancelled (the barrier is then not completed).
bool barrier(Thread* self, bool cancellable = false);

/// End of a region, for workers: announce that the implicit task is done.
void arrive_at_join(Thread* self);
/// End of a region, for the primary thread: wait for all workers and all tasks.
void wait_for_join(Thread* self);

}  // namespace hearth::rt
