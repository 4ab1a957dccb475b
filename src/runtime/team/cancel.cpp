#include "runtime/team/cancel.h"

#include "base/assert.h"
#include "runtime/loop/workshare.h"
#include "runtime/settings/settings.h"
#include "runtime/state/cancelled.h"
#include "runtime/tools/events.h"

namespace hearth::rt {
namespace {

int told_as(CancelKind kind) {
  switch (kind) {
    case CancelKind::parallel: return ompt_cancel_parallel;
    case CancelKind::loop: return ompt_cancel_loop;
    case CancelKind::sections: return ompt_cancel_sections;
    case CancelKind::taskgroup: return ompt_cancel_taskgroup;
  }
  return 0;
}

// The group of the innermost taskgroup construct; groups that only carry a construct's task reductions do not
// count.
Taskgroup* cancellable_group(const Task* task) {
  Taskgroup* group = task->group;
  while (group != nullptr && group->worksharing) group = group->outer;
  return group;
}

}  // namespace

bool cancel(Thread* self, CancelKind kind) {
  if (!settings().cancellation) return false;
  HEARTH_ASSERT(self->member->thread == self && self->task->team == self->team,
                "thread %d cancels in member %d of another team than its task's", self->gtid, self->tid);
  switch (kind) {
    case CancelKind::parallel:
      if (self->team->level == 0) return false;
      count_shared_write();
      // Release pairs with the acquire in barrier().
      self->team->cancel.store(1, std::memory_order_release);
      self->team->events.notify_all();
      break;
    case CancelKind::loop:
    case CancelKind::sections: cancel_workshare(self); break;
    case CancelKind::taskgroup: {
      Taskgroup* group = cancellable_group(self->task);
      if (group == nullptr) return false;
      count_shared_write();
      group->cancelled.store(true, std::memory_order_relaxed);
      break;
    }
  }
  if (events::active()) events::cancel(self, told_as(kind) | ompt_cancel_activated);
  return true;
}

bool cancellation_point(Thread* self, CancelKind kind) {
  if (!settings().cancellation) return false;
  // Pairs with the release in cancel().
  bool cancelled = self->team->cancel.load(std::memory_order_acquire) != 0;
  if (kind == CancelKind::loop || kind == CancelKind::sections)
    cancelled = cancelled || workshare_cancelled(self);
  else if (kind == CancelKind::taskgroup)
    cancelled = cancelled || is_cancelled(self->task);
  if (cancelled && events::active()) events::cancel(self, told_as(kind) | ompt_cancel_detected);
  return cancelled;
}

}  // namespace hearth::rt
