#include "runtime/task/run.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "memory/areas.h"
#include "runtime/locality/explained.h"
#include "runtime/locality/footprint.h"
#include "runtime/locality/load.h"
#include "runtime/locality/silent.h"
#include "runtime/state/cancelled.h"
#include "runtime/state/detach_state.h"
#include "runtime/state/footprint_ranges.h"
#include "runtime/state/process.h"
#include "runtime/task/finish.h"
#include "runtime/task/wait.h"
#include "runtime/tools/check.h"
#include "runtime/tools/events.h"
#include "runtime/tools/explain.h"
#include "runtime/tools/told_bytes.h"

namespace hearth::rt {
namespace {

// Whether the event of a task whose body has ended is fulfilled. If not, whoever fulfils it finishes the
// task.
[[gnu::noinline]] bool event_is_fulfilled(Thread* self, Task* task) {
  if (task->is(kTaskWaitForEvent)) {
    // Acquire pairs with the release in fulfill_event().
    wait_until(
        self->team->events,
        [&] { return task->detach_state.load(std::memory_order_acquire) == kDetachFulfilled; },
        [&](bool last_look) { return help_descendants(self, self->task, last_look); });
    return true;
  }
  return body_ended_with_event_fulfilled(task);
}

[[gnu::noinline]] void run_explained(Thread* self, Task* task) {
  const std::uint64_t served = self->tasks_served(), begun = ticks();
  run_body(self, task);
  explain::ran(self, task, to_ns(ticks() - begun), self->tasks_served() != served);
}

// `alone`: it has run no other tasks meanwhile.
void note_end(Thread* self, Task* task, std::uint64_t time, bool alone) {
  // Where load is weighed, a task that has run others says nothing.
  if (task->is(kTaskSaysData) && (alone || !process.weighs_load)) note_task_time(self, task, time);
  if (task->is(kTaskWatched) || (task->is(kTaskFootprint) && task->footprint->sign == policy::Sign::runs))
    silent::ran(self, task, alone ? time : 0);
}

}  // namespace

void run_told(Thread* self, Task* outer, Task* task, bool cancelled) {
  void* const codeptr = self->ompt_codeptr;
  const std::int32_t state = self->ompt_state;
  events::task_begin(self, outer, task, __builtin_frame_address(0));
  if (cancelled) {
    events::cancel_discarded(self, task);
  } else {
    if (task->is(kTaskChunk)) events::taskloop_chunk(self, task);
    if (check::on) check::task_begin(self, task);
    if (explain::on)
      run_explained(self, task);
    else
      run_body(self, task);
    if (check::on) check::task_end(self);
  }
  events::task_end(self, task, outer, cancelled ? ompt_task_cancel : events::status_after_body(task));
  if (told_bytes::wanted() && task->is(kTaskFootprint) && !cancelled) tell_bytes_at_end(task);
  self->ompt_codeptr = codeptr;
  self->ompt_state = state;
}

void run_task(Thread* self, Task* task) {
  Task* const outer = self->task;
  HEARTH_ASSERT(self == tls_thread && self->member->thread == self, "thread %d runs a task for another", self->gtid);
  HEARTH_ASSERT(!task->is(kTaskFree) && task->team == self->team, "the task %p, flags %#x, is free or of another team",
                static_cast<void*>(task), task->flags);
  if (events::active()) __builtin_prefetch(&task->ompt_task_data);  // the line that others do without
  task->children.open(self);
  self->task = task;
  const std::uint64_t served = self->serve_task();
  const bool cancelled = HEARTH_UNLIKELY(is_cancelled(task)) && !task->is(kTaskNoDiscard);
  if (HEARTH_UNLIKELY(task->is(kTaskFootprint)) && !cancelled && HEARTH_UNLIKELY(memory::areas.any_announced()) &&
      task->footprint->sign == policy::Sign::none)
    fetch_announced(self, *task->footprint);
  const std::uint64_t begun = HEARTH_UNLIKELY(task->is(kTaskSaysData | kTaskWatched)) ? ticks() : 0;
  if (events::active())
    run_told(self, outer, task, cancelled);
  else if (!cancelled)
    run_body(self, task);
  self->task = outer;
  if (HEARTH_UNLIKELY(begun != 0)) {
    if (!cancelled) note_end(self, task, to_ns(ticks() - begun), self->tasks_served() == served);
    if (task->is(kTaskFootprint | kTaskWatched)) drop_footprint(task);
  }
  if (HEARTH_UNLIKELY(task->is(kTaskDetachable | kTaskProxy))) {
    if (cancelled) return finish_discarded(self, task);
    if (!event_is_fulfilled(self, task)) return;
  }
  finish_task(self, task);
}

}  // namespace hearth::rt
