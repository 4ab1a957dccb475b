// Migrations that a call of the program asks for (memory/manager.h), carried out by the caller's team together.
//
// The thread that has one offers it to its team, and moves batches itself. Members that find no task while they wait, in a
// barrier, a taskwait, or between two regions, take batches too, for Migration::kHoldNs at a time. A team has one offer at a
// time: who has another migration helps with that one first. Any thread may call; one that is in no team works alone.
#pragma once

#include "memory/migrate.h"
#include "runtime/state/team.h"

namespace hearth::rt {

/// At start-up.
void let_teams_move();
/// Returns when the migration is done().
void move_with_team(memory::Migration& migration);

/// True: an offer of the team was found, and some of it moved.
[[gnu::cold]] bool help_to_move(Team* team, std::uint64_t hold_ns);
/// For a waiting member that has nothing else to do. One load where nothing is offered.
inline bool help_to_move_if_offered(Team* team) {
  return HEARTH_UNLIKELY(team->migration.peek() != nullptr) && help_to_move(team, memory::Migration::kHoldNs);
}

}  // namespace hearth::rt
