#include "runtime/task/detach.h"

#include "runtime/task/finish.h"
#include "runtime/tools/events.h"
#include "runtime/sync/wait.h"

namespace hearth::rt {
namespace {

// Threads that work on the end of a task of a team that is not theirs: its last task may be complete, and the
// team be gone, before they have told its sleepers.
constinit std::atomic<std::uint32_t> outside{0};

}  // namespace

void fulfill_event(Thread* self, Task* task) {
  if (task == nullptr) return;  // of a task that was not even made, its taskgroup being cancelled
  count_shared_write(2);
  // The count comes before the task can complete, and whoever frees the team has seen it complete: so
  // wait_for_outside_fulfillers() sees the count. Its acquire pairs with the release below.
  outside.fetch_add(1, std::memory_order_relaxed);
  Team* team = task->team;
  std::uint32_t state = task->detach_state.load(std::memory_order_acquire);
  if (events::active() && state != kDetachDiscarded)
    events::task_schedule(
        self, task, state == kDetachRunning ? ompt_task_early_fulfill : ompt_task_late_fulfill, nullptr);
  state = kDetachRunning;
  if (task->detach_state.compare_exchange_strong(state, kDetachFulfilled, std::memory_order_acq_rel,
                                                 std::memory_order_acquire))
    team->events.notify_all();  // an undeferred task's thread may sleep until this
  else if (state == kDetachBodyEnded)
    finish_task(self, task, true);
  else if (state == kDetachDiscarded)
    free_task(self, task);
  outside.fetch_sub(1, std::memory_order_release);
}

void wait_for_outside_fulfillers() {
  Spinner spinner;
  while (outside.load(std::memory_order_acquire) != 0)
    if (!spinner.turn()) yield_cpu();
}

}  // namespace hearth::rt
