// Whether a task's construct has been cancelled. Read by any thread that runs the task; a hint until the next barrier.
#pragma once

#include "base/cpu.h"
#include "runtime/state/team.h"

namespace hearth::rt {

/// Whether any taskgroup around `task`, or its parallel region, has been cancelled.
inline bool is_cancelled(const Task* task) {
  if (HEARTH_UNLIKELY(task->team->cancel.load(std::memory_order_relaxed) != 0)) return true;
  for (const Taskgroup* group = task->group; group != nullptr; group = group->outer)
    if (HEARTH_UNLIKELY(group->cancelled.load(std::memory_order_relaxed))) return true;
  return false;
}

}  // namespace hearth::rt
