// Building, staffing and disbanding teams. By the primary thread of the team, between regions.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// A team with `capacity` member slots below the caller's current one, staffed by the caller alone.
Team* make_team(Thread* self, std::int32_t capacity);
/// Slots for the first `size` members, of which hired threads are to learn where they belong.
void make_members(Team* team, std::int32_t size);
/// Hire until `size` members have a thread; new ones run `worker` (worker.h). Returns the size reached, less than `size` when the system gives
/// no more threads (said once).
std::int32_t staff_team(Team* team, std::int32_t size, void* (*worker)(void*));
/// Send the workers (and those of the hot teams below) to the pool, and free the team.
void disband(Team* team);

}  // namespace hearth::rt
