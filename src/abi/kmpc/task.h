// What clang's task entry points share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/kmpc/kmp_types.h"
#include "runtime/state/thread.h"
#include "runtime/task/depend.h"

namespace hearth::abi {

enum KmpTaskFlag : std::int32_t {
  kKmpTied = 1,
  kKmpFinal = 2,
  kKmpMergedIf0 = 4,
  kKmpDestructors = 8,
  kKmpProxy = 16,
  kKmpPriority = 32,
  kKmpDetachable = 64,
  kKmpHiddenHelper = 128,
};

inline kmp_task_t* kmp_task_of(rt::Task* task) { return static_cast<kmp_task_t*>(task->payload()); }

/// A task with a kmp_task_t of `size` bytes (private variables included) and `shareds` bytes behind it.
rt::Task* new_kmp_task(rt::Thread* self, std::int32_t flags, std::size_t size, std::size_t shareds,
                       rt::TaskRoutine routine);
/// What follows the body of a task that runs in parts or has private variables to destroy. For code that
/// calls the body itself.
void end_kmp_body(rt::Thread* self, rt::Task* task);
/// The priority that the compiler stored after the allocation.
void take_priority(rt::Task* task);
/// A task that is never run: its private variables are destroyed, its descriptor is recycled.
void discard_kmp_task(rt::Thread* self, rt::Task* task);

}  // namespace hearth::abi
