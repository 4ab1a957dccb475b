// An initial task within a program's thread: what a target region on the host runs in.
//
// Called by the thread `self` on its own behalf. The region starts as if the thread had just come: level 0, thread 0 of a
// team of one, the ICVs as the environment set them. The team is kept in the Thread for its next target region, with the
// workers of the parallel regions inside; a target region inside a target region makes one of its own.
#pragma once

#include <cstdint>

#include "runtime/thread.h"

namespace hearth::rt {

/// Run `function(data)` in an initial task and wait for the tasks it made. `thread_limit`: 0 leaves the ICV as it is.
void run_as_initial_task(Thread* self, std::int32_t thread_limit, TaskFunction function, void* data);

/// Free the kept team, when the thread ends or gives its resources back.
void drop_initial_team(Thread* self);

}  // namespace hearth::rt
