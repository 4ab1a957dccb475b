// The third step: an idle or waiting thread looks for a task to run.
//
// Called by the thread `self` on its own behalf. A task that is found belongs to the caller, who runs it.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// A look for a task.
struct Search {
  bool waits;             // for descendants of the current task, and can run nothing else
  bool last_look;         // before the thread sleeps
  bool too_soon = false;  // found tasks that are left for their own workers, for a while
};

/// Any task of the team that the thread may take.
Task* find_any(Thread* self, Search& search);
/// A descendant of `ancestor`.
Task* find_descendant(Thread* self, const Task* ancestor, Search& search);

}  // namespace hearth::rt
