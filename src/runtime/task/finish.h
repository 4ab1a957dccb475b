// The last step: a task has ended. It releases those that depend on it, counts in its parent's brood, and its descriptor
// is recycled as soon as all its descendants are complete.
//
// Any thread, for a task that it has run or whose event it fulfils.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// The body has ended (or the detach event is fulfilled, `by_event`): release dependences, count, recycle.
/// `self` may be any thread.
void finish_task(Thread* self, Task* task, bool by_event = false);

/// A task whose event may still be fulfilled was cancelled before it ran.
void finish_discarded(Thread* self, Task* task);

/// Nobody needs the task any more: it is complete, or was made and will never be adopted.
void recycle(Thread* self, Task* task);

/// What a task owns besides its descriptor.
inline bool has_belongings(const Task* task) {
  return task->is(kTaskOwnsIcvs | kTaskFootprint | kTaskWatched | kTaskAnnounced) || task->depends != nullptr;
}

/// Give back what a task owns besides its descriptor.
void free_belongings(Thread* self, Task* task);
inline void drop_belongings(Thread* self, Task* task) {
  if (HEARTH_UNLIKELY(has_belongings(task))) free_belongings(self, task);
}

}  // namespace hearth::rt
