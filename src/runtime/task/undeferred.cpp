#include "runtime/task/run.h"
#include "runtime/task/finish.h"
#include "runtime/task/undeferred.h"

#include "runtime/state/detach_state.h"
#include "runtime/task/create.h"
#include "runtime/tools/check.h"

namespace hearth::rt {

bool run_in_place_counted(Thread* self, Task* task) {
  task->flags |= kTaskIncluded;
  adopt(self, task);
  if (task->is(kTaskDetachable)) task->flags |= kTaskWaitForEvent;
  run_task(self, task);
  return false;
}

bool end_in_place_slowly(Thread* self, Task* task) {
  if (task->children.all_complete()) {
    recycle(self, task);
  } else {
    adopt(self, task);
    finish_task(self, task);
  }
  return false;
}

void begin_undeferred(Thread* self, Task* task) {
  task->brood = nullptr;
  if (HEARTH_UNLIKELY(!runs_uncounted(task))) {
    task->flags |= kTaskIncluded;
    adopt(self, task);
  }
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
