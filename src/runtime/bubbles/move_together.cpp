#include "runtime/bubbles/move_together.h"

#include "base/assert.h"
#include "memory/manager.h"
#include "runtime/state/thread.h"

namespace hearth::rt {
namespace {

using memory::Migration;

// Whose members may be idle: the caller's team, or that of its last region, which waits for the next one.
Team* helpers_of(const Thread* self) {
  if (self == nullptr || self->team == nullptr) return nullptr;
  Team* team = self->team->size > 1 ? self->team : self->member->hot_child;
  return team != nullptr && team->size > 1 ? team : nullptr;
}

// False: another member's is offered.
bool offer(Team* team, Migration& migration) {
  if (!team->migration.make(migration)) return false;
  // Barriers look for nothing before there was a task. Relaxed: whoever sleeps sees it behind the fence in notify_all().
  if (team->tasked.load(std::memory_order_relaxed) == 0) team->tasked.store(1, std::memory_order_relaxed);
  team->events.notify_all();
  team->go_events.notify_all();
  return true;
}

}  // namespace

void let_teams_move() { memory::set_mover(move_with_team); }

bool help_to_move(Team* team, std::uint64_t hold_ns) {
  return team->migration.help([hold_ns](Migration& migration) {
    if (migration.left() == 0) return false;
    migration.step(hold_ns);
    return true;
  });
}

void move_with_team(Migration& migration) {
  Team* team = migration.left() < 2 ? nullptr : helpers_of(Thread::current_or_null());
  bool offered = false;
  while (team != nullptr && !(offered = offer(team, migration))) {
    if (help_to_move(team, Migration::kNoLimit)) continue;
    if (migration.step(0)) break;  // what is offered is all claimed, and still stands there
  }
  migration.step(Migration::kNoLimit);
  if (offered) team->migration.end();
  HEARTH_ASSERT(migration.done(), "%d batches are left of a migration that was carried out", int(migration.left()));
}

}  // namespace hearth::rt
