#include "runtime/task/run.h"
#include "runtime/task/finish.h"
#include "runtime/task/undeferred.h"

#include "runtime/state/detach_state.h"
#include "runtime/task/create.h"
#include "runtime/tools/check.h"

namespace hearth::rt {
namespace {

bool run_in_place_counted(Thread* self, Task* task) {
  task->flags |= kTaskIncluded;
  adopt(self, task);
  if (task->is(kTaskDetachable)) task->flags |= kTaskWaitForEvent;
  run_task(self, task);
  return false;
}

bool run_in_place_told(Thread* self, Task* task) {
  Task* const outer = self->task;
  task->flags |= kTaskIncluded;
  tell_creation(self, task);
  task->children.open(self);
  self->task = task;
  self->serve_task();
  run_told(self, outer, task, is_cancelled(task) && !task->is(kTaskNoDiscard));
  self->task = outer;
  if (HEARTH_UNLIKELY(task->children.spawned != 0) || HEARTH_UNLIKELY(has_belongings(task)))
    return end_in_place_slowly(self, task);
  task->flags &= ~kTaskIncluded;
  return true;
}

}  // namespace

bool run_in_place_slowly(Thread* self, Task* task) {
  return runs_uncounted(task) ? run_in_place_told(self, task) : run_in_place_counted(self, task);
}

bool end_in_place_slowly(Thread* self, Task* task) {
  if (task->children.all_complete()) {
    recycle(self, task);
  } else {
    count_as_child(self, task);
    finish_task(self, task);
  }
  return false;
}

void begin_undeferred(Thread* self, Task* task) {
  task->brood = nullptr;
  task->flags |= kTaskIncluded;
  if (HEARTH_UNLIKELY(!runs_uncounted(task))) count_as_child(self, task);
  if (events::active()) tell_creation(self, task);
  task->children.open(self);
  if (events::active()) events::undeferred_begin(self, self->task, task);
  self->task = task;
  self->serve_task();
  if (events::active() && check::on) check::task_begin(self, task);
}

void end_undeferred(Thread* self, Task* task) {
  Task* outer = task->parent.load(std::memory_order_relaxed);
  if (events::active() && check::on) check::task_end(self);
  if (events::active()) events::task_end(self, task, outer, events::status_after_body(task));
  self->task = outer;
  if (HEARTH_LIKELY(task->brood == nullptr)) {
    end_in_place_slowly(self, task);
    return;
  }
  // OpenMP 5.2, section 1.2.2: the generating task is suspended until the structured block is completed, not
  // the event.
  if (HEARTH_UNLIKELY(task->is(kTaskDetachable)) && !body_ended_with_event_fulfilled(task)) return;
  finish_task(self, task);
}

}  // namespace hearth::rt
