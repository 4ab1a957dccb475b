// What GCC's task constructs ask for, shared by GOMP_task and GOMP_taskloop. Used by the thread that meets
// the construct, on its own stack.
#pragma once

#include <cstdint>
#include "runtime/state/thread.h"


namespace hearth::abi {

enum GompTaskFlag : unsigned {
  kGompUntied = 1u << 0,
  kGompFinal = 1u << 1,
  kGompMergeable = 1u << 2,
  kGompDepend = 1u << 3,
  kGompPriority = 1u << 4,
  kGompUp = 1u << 8,
  kGompGrainsize = 1u << 9,
  kGompIf = 1u << 10,
  kGompNogroup = 1u << 11,
  kGompReduction = 1u << 12,
  kGompDetach = 1u << 13,
  kGompStrict = 1u << 14,
};

inline std::uint32_t common_task_flags(unsigned flags) {
  static_assert(std::uint32_t{rt::kTaskTied} == kGompUntied && std::uint32_t{rt::kTaskFinal} == kGompFinal &&
                rt::kTaskMergeable == kGompMergeable << 3);
  return ((flags ^ kGompUntied) & (kGompUntied | kGompFinal)) | (flags & kGompMergeable) << 3;
}

struct GompTask {
  void (*function)(void*);
  void* data;
  void (*copy)(void*, void*);
  long arg_size;
  long arg_align;
  unsigned flags;
  int priority = 0;
  void** event = nullptr;  // where the event handle of a detachable task goes

  std::uint32_t task_flags() const {
    std::uint32_t ours = common_task_flags(flags);
    if (event != nullptr) ours |= rt::kTaskDetachable;
    return ours;
  }
  /// To the event variable, and to its copy, which the compiler puts first in the argument block.
  void give_event(rt::Task* task) const {
    *event = task;
    if (data != nullptr) *static_cast<void**>(data) = task;
  }
};

/// OMP_MAX_TASK_PRIORITY bounds what a clause may ask for.
std::uint16_t task_priority(std::int32_t asked);
/// A task with its own copy of the argument block.
rt::Task* new_gomp_task(rt::Thread* self, const GompTask& what);
/// Undeferred: without a copy where there are no copy constructors.
void run_gomp_task_here(rt::Thread* self, const GompTask& what);

}  // namespace hearth::abi
