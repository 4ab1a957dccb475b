// The first step of a task's life: make it, and count it as a child of its parent.
//
// Called by the thread `self` on its own behalf. Nothing here writes a line that other threads write.
#pragma once

#include "runtime/locality/footprint.h"
#include "runtime/state/process.h"
#include "runtime/state/thread.h"
#include "runtime/task/ready.h"

namespace hearth::rt {

/// A new child of the current task, not yet counted or queued: fields set, function and data left to the
/// caller. `flags` are TaskFlags. Never null: when memory is refused the process is told and stopped.
inline Task* new_task(Thread* self, std::size_t payload, std::uint32_t flags) {
  Task* parent = self->task;
  Task* task = allocate_task(self, payload);
  task->parent.store(parent, std::memory_order_relaxed);
  task->depth.store(parent->depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // A final task's descendants are final and included (OpenMP 5.2, section 12.3).
  task->flags = flags | (parent->flags & kTaskFinal);
  task->team = self->team;
  task->icvs = parent->icvs;
  task->group = parent->group;
  task->children.spawned = 0;
  task->priority = 0;
  task->payload_size = static_cast<std::uint32_t>(payload);
  task->depends = nullptr;
  if (HEARTH_UNLIKELY((flags & (kTaskDetachable | kTaskProxy)) != 0))
    task->detach_state.store(kDetachRunning, std::memory_order_relaxed);
  if (HEARTH_UNLIKELY(parent->is(kTaskAnnounced))) take_announced(parent, task);
  return task;
}

/// Count the task as a child of its parent, and tell tools of it. Before its dependences are looked at, and before
/// make_ready() or run_task().
void adopt(Thread* self, Task* task);
/// The two halves of adopt(), for tasks that run in place: most are told of and not counted. The second one is for those
/// who have asked events::active().
void count_as_child(Thread* self, Task* task);
void tell_creation(Thread* self, Task* task);
/// adopt() and make_ready().
inline void spawn(Thread* self, Task* task) {
  adopt(self, task);
  make_ready(self, task);
}

}  // namespace hearth::rt
