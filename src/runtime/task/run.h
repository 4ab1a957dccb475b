// The fourth step: run a task that was found, or one that is not queued at all.
//
// Called by the thread `self` on its own behalf.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// Execute a claimed (or undeferred) task here and now.
void run_task(Thread* self, Task* task);

/// The body with an OMPT tool watching, unless the task is `cancelled`; `outer` goes on afterwards.
void run_told(Thread* self, Task* outer, Task* task, bool cancelled);

/// Calls the body: one function for each ABI.
inline void run_body(Thread* self, Task* task) {
  if (task->is(kTaskKmp))
    task->routine(self->gtid, task->data);
  else
    task->function(task->data);
}

}  // namespace hearth::rt
