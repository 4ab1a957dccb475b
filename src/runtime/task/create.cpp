#include "runtime/task/create.h"

#include "base/assert.h"
#include "runtime/locality/footprint.h"
#include "runtime/task/ready.h"
#include "runtime/task/wait.h"
#include "runtime/tools/decisions.h"
#include "runtime/tools/events.h"
#include "runtime/tools/explain.h"

namespace hearth::rt {
namespace {

constexpr std::uint32_t kMaxSpawned = std::uint32_t{1} << 30;  // half of what a Brood can count

}  // namespace

void tell_creation(Thread* self, Task* task) {
  if (decisions::on) decisions::number(self->task, task);
  if (explain::on) explain::created(self, task);
  int type = ompt_task_explicit;
  if (!task->is(kTaskTied)) type |= ompt_task_untied;
  if (task->is(kTaskFinal)) type |= ompt_task_final;
  if (task->is(kTaskMergeable)) type |= ompt_task_mergeable;
  if (task->is(kTaskIncluded) || (runs_at_once_always(self) && !is_deferred_alone(self, task)))
    type |= ompt_task_undeferred;
  events::task_create(self, task, type, task->is(kTaskNamesDepend));
  if (!task->is(kTaskFootprint)) return;
  events::footprint(task);
  if (!task->is(kTaskNamesDepend)) drop_told_footprint(self, task);
}

void count_as_child(Thread* self, Task* task) {
  Task* parent = self->task;
  Taskgroup* group = parent->group;
  // A group that only carries reductions leaves its tasks to the parent: barriers must see them.
  Brood* brood =
      group != nullptr && group->task == parent && !group->worksharing ? &group->brood : &parent->children;
  if (HEARTH_UNLIKELY(brood->spawned >= kMaxSpawned)) {
    wait_until(
        self->team->events, [&] { return brood->all_complete(); },
        [&](bool last_look) { return help_descendants(self, parent, last_look); });
    brood->open(self);
  }
  HEARTH_ASSERT(brood->owner.load(std::memory_order_relaxed) == self,
                "thread %d makes a child, and the brood belongs to another thread", self->gtid);
  HEARTH_ASSERT(task->parent.load(std::memory_order_relaxed) == parent && !task->is(kTaskFree),
                "the child %p, flags %#x, is not of the current task", static_cast<void*>(task), task->flags);
  brood->add();
  task->brood = brood;
}

void adopt(Thread* self, Task* task) {
  count_as_child(self, task);
  if (events::active()) tell_creation(self, task);
}

}  // namespace hearth::rt
