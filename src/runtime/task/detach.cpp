#include "runtime/task/detach.h"

#include "base/assert.h"
#include "runtime/sync/wait.h"
#include "runtime/task/finish.h"
#include "runtime/tools/events.h"

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
  // Release pairs with the acquire of who finishes the task or waits for its event (state/detach_state.h, task/run.cpp).
  // Acquire, also when it fails: pairs with the end of the body, or with finish_discarded(), whose work goes on here.
  if (task->detach_state.compare_exchange_strong(state, kDetachFulfilled, std::memory_order_acq_rel,
                                                 std::memory_order_acquire))
    team->events.notify_all();  // an undeferred task's thread may sleep until this
  else if (state == kDetachBodyEnded)
    finish_task(self, task, true);
  else if (state == kDetachDiscarded)
    free_task(self, task);
  HEARTH_ASSERT(state != kDetachFulfilled, "the event of the task %p is fulfilled twice", static_cast<void*>(task));
  outside.fetch_sub(1, std::memory_order_release);  // pairs with the acquire in wait_for_outside_fulfillers()
}

void wait_for_outside_fulfillers() {
  Spinner spinner;
  // Pairs with the release in fulfill_event(): nobody touches the team after that.
  while (outside.load(std::memory_order_acquire) != 0)
    if (!spinner.turn()) yield_cpu();
}

}  // namespace hearth::rt
