#include "runtime/task/finish.h"

#include <cstdlib>

#include "base/assert.h"
#include "runtime/locality/footprint.h"
#include "runtime/task/depend.h"

namespace hearth::rt {

[[gnu::noinline]] void free_belongings(Thread* self, Task* task) {
  if (task->is(kTaskOwnsIcvs)) {
    for (Icvs* icvs = task->icvs; icvs != nullptr;) {
      Icvs* older = icvs->retired;
      std::free(icvs);
      icvs = older;
    }
    task->flags &= ~kTaskOwnsIcvs;
  }
  if (task->is(kTaskFootprint | kTaskWatched)) drop_footprint(task);
  if (task->is(kTaskAnnounced)) drop_announced(task);
  if (task->depends != nullptr) drop_depend_table(self, task);
}

void recycle(Thread* self, Task* task) {
  drop_belongings(self, task);
  free_task(self, task);
}

namespace {

// Counts `task` in its brood. `what` is kFinished, kComplete or both. Returns the task that became complete
// thereby, which is the brood's own task when that has ended and this was its last descendant.
Task* count_in_brood(Thread* self, Task* task, std::uint64_t what) {
  Brood* brood = task->brood;
  if (HEARTH_LIKELY(brood->owner.load(std::memory_order_relaxed) == self)) {
    // Release: pairs with the acquire in all_complete(), by which a barrier's primary thread sees the task's
    // effects.
    brood->here.store(brood->here.load(std::memory_order_relaxed) + what, std::memory_order_release);
    HEARTH_ASSERT(Brood::complete_of(brood->here.load(std::memory_order_relaxed)) <= brood->spawned &&
                      Brood::finished_of(brood->here.load(std::memory_order_relaxed)) <= brood->spawned,
                  "of %u children %u have finished and %u are complete", brood->spawned,
                  Brood::finished_of(brood->here.load(std::memory_order_relaxed)),
                  Brood::complete_of(brood->here.load(std::memory_order_relaxed)));
    if (HEARTH_UNLIKELY(self->member->in_barrier)) self->team->events.notify_all();
    return nullptr;
  }
  Task* parent = task->parent.load(std::memory_order_relaxed);
  Team* team = task->team;
  count_shared_write();
  // Release pairs with the acquires in all_finished() and all_complete(): the task's effects are seen. Acquire pairs with
  // the releases of the other children and of close_brood(): who completes a closed brood recycles its task after them.
  const std::uint64_t now = brood->elsewhere.fetch_add(what, std::memory_order_acq_rel) + what;
  HEARTH_ASSERT((now & Brood::kClosed) == 0 || static_cast<std::int32_t>(Brood::complete_of(now)) <= 0,
                "%u more children of a closed brood are complete than there were", Brood::complete_of(now));
  // Nothing of the brood is read any more: if another task completes last, its owner's descriptor is
  // recycled.
  if ((now & Brood::kClosed) != 0) return Brood::complete_of(now) == 0 ? parent : nullptr;
  team->events.notify_all();  // the owner may sleep in taskwait, or the primary thread in a barrier
  return nullptr;
}

// Recycle a complete task and every ancestor whose last descendant it was.
void complete_task(Thread* self, Task* task, std::uint64_t what) {
  for (;;) {
    // Read before counting: once counted, the brood may be gone.
    Task* ancestor = count_in_brood(self, task, what);
    recycle(self, task);
    if (HEARTH_LIKELY(ancestor == nullptr)) return;
    task = ancestor;
    what = Brood::kComplete;
  }
}

// True when the brood's owner will run no more of the task's body and nothing is outstanding; else leaves the
// brood closed, and the last descendant to complete takes over.
bool close_brood(Brood& brood) {
  if (HEARTH_LIKELY(brood.all_complete())) return true;
  HEARTH_ASSERT((brood.elsewhere.load(std::memory_order_relaxed) & Brood::kClosed) == 0,
                "a brood of %u is closed twice", brood.spawned);
  brood.owner.store(nullptr, std::memory_order_relaxed);
  // From now on the high half counts up to zero, modulo 2^32: what is missing.
  const std::uint64_t add =
      Brood::kClosed +
      (std::uint64_t{Brood::complete_of(brood.here.load(std::memory_order_relaxed)) - brood.spawned} << 32);
  count_shared_write();
  // Pairs with count_in_brood(). Release: the last descendant recycles the task after this. Acquire: should they all have
  // come first, this thread does, after them.
  const std::uint64_t now = brood.elsewhere.fetch_add(add, std::memory_order_acq_rel) + add;
  return Brood::complete_of(now) == 0;
}

}  // namespace

// A cancelled task with an event: whoever has the handle may still fulfil it, and recycles the descriptor
// then.
void finish_discarded(Thread* self, Task* task) {
  if (task->is(kTaskHasDepend)) release_dependences(self, task, false);
  Task* ancestor = count_in_brood(self, task, Brood::kFinished + Brood::kComplete);
  drop_belongings(self, task);
  std::uint32_t state = kDetachRunning;
  // Release: the handle's holder recycles what is finished here. Acquire: so does this thread, of one who
  // came first.
  if (!task->detach_state.compare_exchange_strong(state, kDetachDiscarded, std::memory_order_acq_rel,
                                                  std::memory_order_acquire))
    free_task(self, task);
  if (ancestor != nullptr) complete_task(self, ancestor, Brood::kComplete);
}

void finish_task(Thread* self, Task* task, bool by_event) {
  if (HEARTH_UNLIKELY(task->is(kTaskHasDepend))) release_dependences(self, task, by_event);
  if (HEARTH_LIKELY(close_brood(task->children)))
    complete_task(self, task, Brood::kFinished + Brood::kComplete);
  else
    count_in_brood(self, task, Brood::kFinished);
}



}  // namespace hearth::rt
