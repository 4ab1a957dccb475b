#include "runtime/task/wait.h"

#include "runtime/bubbles/move_together.h"
#include "runtime/task/find.h"
#include "runtime/task/ready.h"
#include "runtime/task/run.h"
#include "runtime/tools/events.h"

namespace hearth::rt {
namespace {

// No task was found.
Look help_otherwise(Thread* self, const Search& search) {
  if (help_to_move_if_offered(self->team)) return Look::worked;
  return search.too_soon ? Look::too_soon : Look::nothing;
}

}  // namespace

Look help_team(Thread* self, bool last_look) {
  Search search{.waits = false, .last_look = last_look};
  Task* task = find_any(self, search);
  if (task == nullptr) return help_otherwise(self, search);
  run_task(self, task);
  return Look::worked;
}

Look help_between_regions(Thread* self, std::uint64_t seen_go, bool last_look) {
  Team* team = self->team;
  Search search{.waits = false, .last_look = last_look};
  Task* task = find_any(self, search);
  if (task == nullptr) return help_otherwise(self, search);
  // The acquire in the claim pairs with the push, which came after the fork when the task belongs to a new
  // region: then this thread, which has not entered that region yet and may be no member of it, gives the
  // task back.
  if (HEARTH_UNLIKELY(team->fork.go.load(std::memory_order_acquire) != seen_go)) {
    enqueue_shared(task);
  } else {
    run_task(self, task);
  }
  return Look::worked;
}

Look help_descendants(Thread* self, const Task* ancestor, bool last_look) {
  Search search{.waits = true, .last_look = last_look};
  Task* task = find_descendant(self, ancestor, search);
  if (task == nullptr) return help_otherwise(self, search);
  run_task(self, task);
  return Look::worked;
}

void taskwait(Thread* self) {
  Task* task = self->task;
  auto finished = [task] {
    for (Taskgroup* group = task->group; group != nullptr && group->task == task; group = group->outer)
      if (!group->brood.all_finished()) return false;
    return task->children.all_finished();
  };
  if (events::active()) events::sync_begin(self, ompt_sync_region_taskwait);
  wait_until(self->team->events, finished,
             [&](bool last_look) { return help_descendants(self, task, last_look); });
  if (events::active()) events::sync_end(self, ompt_sync_region_taskwait);
}

void taskyield(Thread* self) {
  self->ompt_yields = true;
  help_descendants(self, self->task, true);
  self->ompt_yields = false;
}

void run_left_tasks(Thread* self) {
  while (self->task != nullptr && help_descendants(self, self->task, true) == Look::worked) {
  }
}

}  // namespace hearth::rt
