#include "runtime/task/taskgroup.h"

#include <cstdlib>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/task/task_reduction.h"
#include "runtime/task/wait.h"
#include "runtime/tools/events.h"

namespace hearth::rt {

Taskgroup* taskgroup_begin(Thread* self) {
  auto* group = static_cast<Taskgroup*>(std::malloc(sizeof(Taskgroup)));
  if (group == nullptr) fatal("out of memory: no room for a taskgroup");
  new (group) Taskgroup;
  group->brood.open(self);
  group->outer = self->task->group;
  group->task = self->task;
  self->task->group = group;
  if (events::active()) events::sync_begin(self, ompt_sync_region_taskgroup, false);
  return group;
}

void taskgroup_end(Thread* self) {
  Task* task = self->task;
  Taskgroup* group = task->group;
  HEARTH_ASSERT(group != nullptr && group->task == task && group->brood.owner.load(std::memory_order_relaxed) == self,
                "thread %d ends a taskgroup that the current task has not begun", self->gtid);
  if (events::active()) events::sync_wait(self, ompt_sync_region_taskgroup, ompt_scope_begin);
  wait_until(
      self->team->events,
      [group, task] { return (group->worksharing ? task->children : group->brood).all_complete(); },
      [&](bool last_look) { return help_descendants(self, task, last_look); });
  if (HEARTH_UNLIKELY(group->reductions != nullptr)) finish_reductions(self, group);
  if (events::active()) {
    events::sync_wait(self, ompt_sync_region_taskgroup, ompt_scope_end);
    events::sync_end(self, ompt_sync_region_taskgroup, false);
  }
  task->group = group->outer;
  std::free(group);
}

}  // namespace hearth::rt
