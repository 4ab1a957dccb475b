// The taskgroup construct. Called by the thread that runs the task which meets the construct.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

Taskgroup* taskgroup_begin(Thread* self);
void taskgroup_end(Thread* self);

}  // namespace hearth::rt
