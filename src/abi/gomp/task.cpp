// GCC's entry points for tasks: translators to the core in runtime/.
//
// Any thread of the program. The argument block belongs to the creator's frame: a task that runs at once uses
// it in place unless it has copy constructors, a deferred one gets a copy behind its descriptor.
#include <cstdint>
#include <cstring>

#include "abi/export.h"
#include "abi/gomp/depend.h"
#include "abi/gomp/task.h"
#include "runtime/locality/silent.h"
#include "runtime/settings/settings.h"
#include "runtime/state/cancelled.h"
#include "runtime/task/create.h"
#include "runtime/task/depend.h"
#include "runtime/task/detach.h"
#include "runtime/task/ready.h"
#include "runtime/task/taskgroup.h"
#include "runtime/task/undeferred.h"
#include "runtime/task/wait.h"
#include "runtime/tools/events.h"

namespace rt = hearth::rt;
using hearth::abi::GompDependences;
using rt::Task;
using rt::Thread;

namespace hearth::abi {

std::uint16_t task_priority(std::int32_t asked) {
  const std::int32_t limit = rt::settings().max_task_priority;
  const std::int32_t priority = asked < limit ? asked : limit;
  return priority <= 0 ? 0 : priority > UINT16_MAX ? UINT16_MAX : static_cast<std::uint16_t>(priority);
}

Task* new_gomp_task(Thread* self, const GompTask& what) {
  const std::size_t align = what.arg_align > 64 ? static_cast<std::size_t>(what.arg_align) : 0;
  Task* task = rt::new_task(self, static_cast<std::size_t>(what.arg_size) + align, what.task_flags());
  auto* room = static_cast<char*>(task->payload());
  if (HEARTH_UNLIKELY(align != 0))
    room += (align - (reinterpret_cast<std::uintptr_t>(room) & (align - 1))) & (align - 1);
  task->function = what.function;
  task->data = room;
  task->priority = task_priority(what.priority);
  if (HEARTH_UNLIKELY(what.event != nullptr)) what.give_event(task);
  if (what.copy == nullptr) {
    std::memcpy(room, what.data, static_cast<std::size_t>(what.arg_size));
  } else {
    what.copy(room, what.data);
    task->flags |= rt::kTaskNoDiscard;
  }
  return task;
}

void run_gomp_task_here(Thread* self, const GompTask& what) {
  Task* task = what.copy == nullptr ? rt::new_task(self, 0, what.task_flags()) : new_gomp_task(self, what);
  task->function = what.function;
  if (what.copy == nullptr) {
    task->data = what.data;
    if (HEARTH_UNLIKELY(what.event != nullptr)) what.give_event(task);
  }
  rt::run_undeferred(self, task);
}

}  // namespace hearth::abi

namespace {

using hearth::abi::GompTask;

void nothing(void*) {}

// The path of tasks with depend, detach, priority or copy constructors.
[[gnu::noinline]] void uncommon_task(Thread* self, const GompTask& what, bool deferred, void* const* depend) {
  if (HEARTH_UNLIKELY(rt::is_cancelled(self->task))) {
    if (what.event != nullptr) *what.event = nullptr;
    return;
  }
  if (!deferred) {
    if (depend != nullptr) {
      const GompDependences dependences(depend);
      rt::wait_for_dependences(self, dependences.data(), dependences.size());
    }
    run_gomp_task_here(self, what);
    return;
  }
  Task* task = new_gomp_task(self, what);
  if (depend == nullptr) {
    rt::spawn(self, task);
    return;
  }
  task->flags |= rt::kTaskNamesDepend;
  rt::adopt(self, task);
  const GompDependences dependences(depend);
  rt::spawn_with_dependences(self, task, dependences.data(), dependences.size());
}

}  // namespace

HEARTH_EXPORT void GOMP_task(void (*fn)(void*), void* data, void (*cpyfn)(void*, void*), long arg_size, long arg_align,
                             bool if_clause, unsigned flags, void** depend, int priority, void* detach) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const unsigned uncommon = hearth::abi::kGompDepend | hearth::abi::kGompPriority | hearth::abi::kGompDetach;
  if (HEARTH_UNLIKELY((flags & uncommon) != 0) || HEARTH_UNLIKELY(cpyfn != nullptr)) {
    GompTask what{fn, data, cpyfn, arg_size, arg_align, flags};
    if ((flags & hearth::abi::kGompPriority) != 0) what.priority = priority;
    if ((flags & hearth::abi::kGompDetach) != 0) what.event = static_cast<void**>(detach);
    uncommon_task(self, what, if_clause, (flags & hearth::abi::kGompDepend) != 0 ? depend : nullptr);
    return;
  }
  const void* const function = reinterpret_cast<const void*>(fn);
  if (!if_clause || (rt::is_cut_off(self, static_cast<std::size_t>(arg_size)) && !rt::silent::is_followed(function))) {
    Task* task = rt::new_task(self, 0, hearth::abi::common_task_flags(flags));
    task->function = fn;
    task->data = data;
    rt::run_undeferred(self, task);
    return;
  }
  rt::spawn(self, hearth::abi::new_gomp_task(self, GompTask{fn, data, nullptr, arg_size, arg_align, flags}));
}

HEARTH_EXPORT void GOMP_taskwait() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::taskwait(self);
}

HEARTH_EXPORT void GOMP_taskwait_depend(void** depend) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  if (HEARTH_UNLIKELY(rt::is_cancelled(self->task))) return;
  const GompDependences dependences(depend);
  rt::wait_for_dependences(self, dependences.data(), dependences.size());
}

HEARTH_EXPORT void GOMP_taskwait_depend_nowait(void** depend) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  uncommon_task(self, GompTask{nothing, nullptr, nullptr, 0, 1, hearth::abi::kGompMergeable}, true, depend);
}

HEARTH_EXPORT void GOMP_taskyield() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::taskyield(self);
}

HEARTH_EXPORT void GOMP_taskgroup_start() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::taskgroup_begin(self);
}

HEARTH_EXPORT void GOMP_taskgroup_end() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::taskgroup_end(self);
}

HEARTH_EXPORT void omp_fulfill_event(std::uintptr_t event) {
  rt::fulfill_event(Thread::current(), reinterpret_cast<Task*>(event));
}
// The event handle is the one argument that omp_lib passes by value.
HEARTH_EXPORT void omp_fulfill_event_(std::uintptr_t event) { omp_fulfill_event(event); }
