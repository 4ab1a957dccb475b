// ICVs that a task has changed for itself.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// The ICVs of the current task, made writable. By the thread that runs it.
Icvs& own_icvs(Thread* self);

}  // namespace hearth::rt
