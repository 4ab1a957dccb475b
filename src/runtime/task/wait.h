// Waiting for tasks, and running others meanwhile: taskwait, taskyield, and what barriers call.
//
// Called by the thread `self` on its own behalf. runtime/sync/README.md tells why nobody sleeps for ever.
#pragma once

#include "runtime/state/thread.h"
#include "runtime/sync/wait.h"

namespace hearth::rt {

/// Find and run one task of the team; any task in a barrier, else only descendants of the current task. The
/// last look before the thread sleeps goes everywhere; others may leave far queues alone. Who waits for
/// descendants never finds it too soon.
Look help_team(Thread* self, bool last_look);
Look help_descendants(Thread* self, const Task* ancestor, bool last_look);
/// For a worker that has joined and waits for the next region, `seen_go` being the fork word it has answered.
Look help_between_regions(Thread* self, std::uint64_t seen_go, bool last_look);

void taskwait(Thread* self);
void taskyield(Thread* self);

/// Run what the current task has left in queues and nobody has waited for; waits for nothing.
void run_left_tasks(Thread* self);

}  // namespace hearth::rt
