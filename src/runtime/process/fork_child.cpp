// Runs in the child, where there is one thread: nothing here needs synchronisation.
#include "runtime/process/fork_child.h"

#include "runtime/bubbles/seats.h"
#include "runtime/locality/team_locality.h"
#include "runtime/state/fork_word.h"
#include "runtime/state/live.h"
#include "runtime/state/process.h"
#include "runtime/state/thread_table.h"
#include "runtime/sync/lock.h"
#include "runtime/sync/wait.h"
#include "runtime/team/budget.h"
#include "runtime/team/build_team.h"
#include "runtime/team/pool.h"
#include "runtime/tools/explain.h"

namespace hearth::rt {
namespace {

// In a fork child: nobody but the primary thread is left of `team` and of the teams that its thread has kept.
// Their memory is not given back: it may be in any state, and frames on the child's stack may use it.
void lose_workers(Team* team) {
  for (std::int32_t i = 1; i < team->capacity; ++i) team->members[i] = nullptr;
  team->staffed = 1;
  team->size = 1;
  team->flat = true;
  team->placement = {};
  forget_seats_of(team);
  team->reserved = 0;
  team->budget = 0;
  team->group_reserved.store(0, std::memory_order_relaxed);
  team->dismissed.store(0, std::memory_order_relaxed);
  team->migration.reset_after_fork();
  team->events.reset_after_fork();
  team->go_events.reset_after_fork();
  team->shared_queue.lock.reset();
  if (team->locality != nullptr) {
    for (std::int32_t i = 0; i < team->locality->locations; ++i)
      team->locality->inboxes[i].reset_after_fork();
    team->locality->dealers.store(0, std::memory_order_relaxed);
    team->primary().deals.store(false, std::memory_order_relaxed);
    recount_workers(team);
  }
  Member& primary = team->primary();
  for (Team* child : {primary.hot_child, primary.serial_child})
    if (child != nullptr) lose_workers(child);
}

}  // namespace

// The child has the calling thread only. Locks may have been held by threads that are gone; teams have
// workers that are gone.
void in_fork_child() {
  forget_pool();
  forget_seats();
  budget::forget_after_fork();
  reset_thread_table();
  free_deep_nests_after_fork();
  live_page::publish_after_fork(tls_thread);  // what the parent served, it reports itself
  explain::forget_after_fork();
  Thread* self = tls_thread;
  contention.busy_threads.store(self != nullptr ? 1 : 0, std::memory_order_relaxed);
  if (self == nullptr) return;
  if (self->initial_team != nullptr) lose_workers(self->initial_team);
  for (Team *team = self->team, *above; team != nullptr; team = above) {
    above = team->parent_member != nullptr ? team->parent : nullptr;
    Member* mine = nullptr;
    for (std::int32_t i = 0; i < team->capacity; ++i)
      if (team->members[i] != nullptr && team->members[i]->thread == self) mine = team->members[i];
    const bool is_worker = mine != nullptr && mine->tid != 0;
    lose_workers(team);
    if (is_worker) {
      // Forked by a worker. If the child comes to the end of its share, nobody will ever give it another one:
      // dismiss it. Its thread, the only one, then ends, and with it the child.
      for (Team* child : {mine->hot_child, mine->serial_child})
        if (child != nullptr) lose_workers(child);
      team->members[mine->tid] = mine;
      self->retire.store(true, std::memory_order_relaxed);
      team->fork.go.store(ForkWord::dismissal(team->epoch() + 1).bits, std::memory_order_relaxed);
      break;
    }
  }
}

}  // namespace hearth::rt
