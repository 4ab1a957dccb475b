// Clang's entry points for tasks: translators to the core in runtime/.
//
// Any thread of the program; the `gtid` arguments are ignored, the thread knows who it is. A kmp_task_t is
// the payload of a descriptor and lies right behind it. Tasks with destructors and untied tasks (which clang
// runs in parts) go through run_with_care(); all others are called directly.
#include "abi/kmpc/task.h"

#include <cstdlib>

#include "abi/export.h"
#include "abi/gomp/task.h"
#include "abi/kmpc/kmp_depend.h"
#include "base/log.h"
#include "runtime/locality/footprint.h"
#include "runtime/state/cancelled.h"
#include "runtime/task/create.h"
#include "runtime/task/detach.h"
#include "runtime/task/finish.h"
#include "runtime/task/taskgroup.h"
#include "runtime/task/undeferred.h"
#include "runtime/task/wait.h"
#include "runtime/tools/events.h"

namespace rt = hearth::rt;
using hearth::abi::kmp_task_of;
using hearth::abi::KmpDependences;
using hearth::abi::new_kmp_task;
using rt::Task;
using rt::Thread;

namespace {

constexpr std::uint32_t kHasDestructors = rt::kTaskNoDiscard;  // of a kmp task: nobody else sets it

// The priority clause is known by the compiler's store into data2, which comes after the allocation; this is
// what remembers that there is one.
bool has_priority(const Task* task) { return task->is(rt::kTaskPriority); }

Task* of(kmp_task_t* payload) { return Task::of_payload(payload); }

// For a task that stands for its dependences only (taskwait nowait).
std::int32_t no_body(std::int32_t, void*) { return 0; }

// Inlined, so that the caller's frame is the one that calls the program.
[[gnu::always_inline]] inline void call_part(Task* task, std::int32_t gtid, kmp_task_t* kmp) {
  if (rt::events::active()) rt::events::enter_user_code(task, __builtin_frame_address(0));
  kmp->routine(gtid, kmp);
}

// A task that hands itself over is untied, and asks for its next part.
inline void spawn_or_resume(Thread* self, Task* task) {
  if (HEARTH_UNLIKELY(task == self->task)) {
    task->flags |= rt::kTaskResume;
    return;
  }
  hearth::abi::take_priority(task);
  rt::spawn(self, task);
}

// Runs on behalf of the descriptor `task`, which is the current task.
std::int32_t run_with_care(std::int32_t gtid, void* payload) {
  auto* kmp = static_cast<kmp_task_t*>(payload);
  Thread* self = Thread::current();
  if (!rt::is_cancelled(self->task)) call_part(self->task, gtid, kmp);
  hearth::abi::end_kmp_body(self, of(kmp));
  return 0;
}

}  // namespace

namespace hearth::abi {

Task* new_kmp_task(Thread* self, std::int32_t flags, std::size_t size, std::size_t shareds, rt::TaskRoutine routine) {
  if (HEARTH_UNLIKELY(routine == nullptr)) routine = no_body;
  const std::size_t shareds_at = (size + sizeof(void*) - 1) & ~(sizeof(void*) - 1);
  std::uint32_t ours = rt::kTaskKmp;
  if ((flags & kKmpTied) != 0) ours |= rt::kTaskTied;
  if ((flags & kKmpFinal) != 0) ours |= rt::kTaskFinal;
  if ((flags & kKmpMergedIf0) != 0) ours |= rt::kTaskMergeable;
  constexpr std::int32_t kUncommon = kKmpDestructors | kKmpProxy | kKmpPriority | kKmpDetachable;
  if (HEARTH_UNLIKELY((flags & kUncommon) != 0)) {
    if ((flags & kKmpDestructors) != 0) ours |= kHasDestructors;
    if ((flags & kKmpProxy) != 0) ours |= rt::kTaskProxy;
    if ((flags & kKmpPriority) != 0) ours |= rt::kTaskPriority;
    if ((flags & kKmpDetachable) != 0) ours |= rt::kTaskDetachable;
  }
  Task* task = rt::new_task(self, shareds_at + shareds, ours);
  const bool careful = (ours & (rt::kTaskTied | kHasDestructors)) != rt::kTaskTied;
  task->routine = HEARTH_UNLIKELY(careful) ? run_with_care : routine;
  kmp_task_t* kmp = kmp_task_of(task);
  task->data = kmp;
  kmp->shareds = shareds != 0 ? reinterpret_cast<char*>(kmp) + shareds_at : nullptr;
  kmp->routine = routine;
  kmp->part_id = 0;
  return task;
}

void end_kmp_body(Thread* self, Task* task) {
  kmp_task_t* kmp = kmp_task_of(task);
  // An untied task asks for its next part by handing itself to __kmpc_omp_task().
  while (task->is(rt::kTaskResume)) {
    task->flags &= ~rt::kTaskResume;
    call_part(task, self->gtid, kmp);
  }
  if (task->is(kHasDestructors)) kmp->data1.destructors(self->gtid, kmp);
}

void take_priority(Task* task) {
  if (HEARTH_UNLIKELY(has_priority(task))) task->priority = task_priority(kmp_task_of(task)->data2.priority);
}

void discard_kmp_task(Thread* self, Task* task) {
  if (task->is(kHasDestructors)) kmp_task_of(task)->data1.destructors(self->gtid, kmp_task_of(task));
  rt::recycle(self, task);
}

}  // namespace hearth::abi

HEARTH_EXPORT kmp_task_t* __kmpc_omp_task_alloc(ident_t*, std::int32_t, std::int32_t flags, std::size_t size,
                                                std::size_t shareds, rt::TaskRoutine routine) {
  return kmp_task_of(new_kmp_task(Thread::current(), flags, size, shareds, routine));
}

HEARTH_EXPORT kmp_task_t* __kmpc_omp_target_task_alloc(ident_t*, std::int32_t, std::int32_t flags,
                                                       std::size_t size, std::size_t shareds,
                                                       rt::TaskRoutine routine, std::int64_t) {
  Task* task = new_kmp_task(Thread::current(), flags, size, shareds, routine);
  task->flags |= rt::kTaskTarget;
  return kmp_task_of(task);
}

HEARTH_EXPORT std::int32_t __kmpc_omp_task(ident_t*, std::int32_t, kmp_task_t* payload) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  spawn_or_resume(self, of(payload));
  return 0;
}

HEARTH_EXPORT std::int32_t __kmpc_omp_task_parts(ident_t*, std::int32_t, kmp_task_t* payload) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  spawn_or_resume(self, of(payload));
  return 0;
}

HEARTH_EXPORT std::int32_t __kmpc_omp_task_with_deps(ident_t*, std::int32_t, kmp_task_t* payload, std::int32_t count,
                                                     kmp_depend_info_t* list, std::int32_t noalias_count,
                                                     kmp_depend_info_t* noalias_list) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  Task* task = of(payload);
  if (HEARTH_UNLIKELY(task == self->task)) {  // a further part: its dependences are met
    task->flags |= rt::kTaskResume;
    return 0;
  }
  hearth::abi::take_priority(task);
  const KmpDependences dependences(count, list, noalias_count, noalias_list);
  if (dependences.size() != 0) task->flags |= rt::kTaskNamesDepend;
  rt::adopt(self, task);
  rt::spawn_with_dependences(self, task, dependences.data(), dependences.size());
  return 0;
}

HEARTH_EXPORT void __kmpc_omp_wait_deps(ident_t*, std::int32_t, std::int32_t count, kmp_depend_info_t* list,
                                        std::int32_t noalias_count, kmp_depend_info_t* noalias_list) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const KmpDependences dependences(count, list, noalias_count, noalias_list);
  rt::wait_for_dependences(self, dependences.data(), dependences.size());
}

HEARTH_EXPORT void __kmpc_omp_taskwait_deps_51(ident_t*, std::int32_t, std::int32_t count, kmp_depend_info_t* list,
                                               std::int32_t noalias_count, kmp_depend_info_t* noalias_list,
                                               std::int32_t nowait) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const KmpDependences dependences(count, list, noalias_count, noalias_list);
  if (nowait == 0) {
    rt::wait_for_dependences(self, dependences.data(), dependences.size());
    return;
  }
  // An empty task that later siblings may wait for.
  Task* task = rt::new_task(self, 0, rt::kTaskTied | rt::kTaskMergeable | rt::kTaskNamesDepend);
  task->function = [](void*) {};
  task->data = nullptr;
  rt::adopt(self, task);
  rt::spawn_with_dependences(self, task, dependences.data(), dependences.size());
}

HEARTH_EXPORT std::int32_t __kmpc_omp_taskwait(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::taskwait(self);
  return 0;
}

HEARTH_EXPORT std::int32_t __kmpc_omp_taskyield(ident_t*, std::int32_t, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::taskyield(self);
  return 0;
}

HEARTH_EXPORT void __kmpc_omp_task_begin_if0(ident_t*, std::int32_t, kmp_task_t* payload) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::begin_undeferred(self, of(payload));
}

HEARTH_EXPORT void __kmpc_omp_task_complete_if0(ident_t*, std::int32_t, kmp_task_t* payload) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  Task* task = of(payload);
  if (HEARTH_UNLIKELY(task->is(rt::kTaskResume | kHasDestructors))) hearth::abi::end_kmp_body(self, task);
  rt::end_undeferred(self, task);
}

HEARTH_EXPORT void __kmpc_taskgroup(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::taskgroup_begin(self);
}

HEARTH_EXPORT void __kmpc_end_taskgroup(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::taskgroup_end(self);
}

HEARTH_EXPORT void* __kmpc_task_allow_completion_event(ident_t*, std::int32_t, kmp_task_t* payload) {
  return of(payload);
}

HEARTH_EXPORT void __kmpc_proxy_task_completed(std::int32_t, kmp_task_t* payload) {
  rt::fulfill_event(Thread::current(), of(payload));
}

HEARTH_EXPORT void __kmpc_proxy_task_completed_ooo(kmp_task_t* payload) {
  rt::fulfill_event(Thread::current(), of(payload));
}

HEARTH_EXPORT std::int32_t __kmpc_omp_reg_task_with_affinity(ident_t*, std::int32_t, kmp_task_t* payload,
                                                             std::int32_t count, kmp_task_affinity_info_t* list) {
  if (count <= 0) return 0;
  rt::state_footprint(Thread::current(), of(payload), static_cast<std::size_t>(count), [list](std::size_t i) {
    return rt::FootprintRange{static_cast<std::uint64_t>(list[i].base_addr), list[i].len};
  });
  return 0;
}

HEARTH_EXPORT void* __kmpc_task_get_depnode(kmp_task_t* payload) {
  return of(payload)->is(rt::kTaskHasDepend) ? of(payload)->node : nullptr;
}

HEARTH_EXPORT void* __kmpc_task_get_successors(kmp_task_t* payload) { return rt::successors_of(of(payload)); }
