// Dependences among the children of one task (OpenMP 5.2, section 15.9).
//
// The table of a parent is read and written only by the thread that runs the parent. A node is shared between
// that table (while later siblings may depend on the task) and the task itself; successors are pushed by the
// creator and taken by the thread that finishes the task.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/thread.h"

namespace hearth::rt {

enum class DependKind : std::uint8_t { in, out, inout = out, mutexinoutset, inoutset };

struct Dependence {
  const void* address;  // null with all_memory
  std::size_t length;   // bytes; 0: unknown (gcc passes none)
  DependKind kind;
  bool all_memory;
};

/// Enter `task` (adopted, not yet ready) among its siblings and make it ready when nothing stands before it;
/// else it becomes ready when the last predecessor finishes.
void spawn_with_dependences(Thread* self, Task* task, const Dependence* list, std::size_t count);

/// Wait until all siblings that `list` depends on have finished (taskwait depend, undeferred tasks with
/// depend).
void wait_for_dependences(Thread* self, const Dependence* list, std::size_t count);

/// The task has finished: its successors lose a predecessor. Called by finish_task().
void release_dependences(Thread* self, Task* task);

/// The parent is complete: forget its table. Called when its descriptor is recycled, or its slot starts
/// another implicit task.
void drop_depend_table(Thread* self, Task* parent);

}  // namespace hearth::rt
