// Dependences among the children of one task (OpenMP 5.2, section 15.9).
//
// The table of a parent is read and written only by the thread that runs the parent. It maps addresses to the
// last two sets of tasks that named them: an `in` or `inoutset` joins the current set if that is of the same
// kind, and depends on the set before; anything else starts a new set that depends on the current one.
// mutexinoutset is ordered like inout, which excludes mutually, too (docs/decisions).
//
// A node is shared between the table, while later siblings may depend on the task, and the task itself; the
// second to let go returns it. The creator pushes a link for each successor onto the predecessor's list, a
// CAS; the thread that finishes the predecessor closes the list with one exchange and takes what was pushed.
// A task's node counts its unfinished predecessors, the creator holding one more until it has pushed all.
#pragma once

#include <cstddef>

#include "runtime/state/dependence.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// Enter `task` (adopted, not yet ready) among its siblings and make it ready when nothing stands before it;
/// else it becomes ready when the last predecessor finishes.
void spawn_with_dependences(Thread* self, Task* task, const Dependence* list, std::size_t count);

/// Wait until all siblings that `list` depends on have finished (taskwait depend, undeferred tasks with
/// depend).
void wait_for_dependences(Thread* self, const Dependence* list, std::size_t count);

/// The task has finished: its successors lose a predecessor. Called by finish_task(); `by_event` as there.
void release_dependences(Thread* self, Task* task, bool by_event);

/// For tools that ask for a task's edges, while it cannot finish: its list of {node, next} pairs, newest
/// first.
void* successors_of(const Task* task);

/// The parent is complete: forget its table. Called when its descriptor is recycled, or its slot starts
/// another implicit task.
void drop_depend_table(Thread* self, Task* parent);

}  // namespace hearth::rt
