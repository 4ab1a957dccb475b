// Hints: what a program says of the memory that its threads and teams use (<hearth/memory.h>, "Who uses what").
//
// Called by the thread `self` on its own behalf. What was said is kept in the live tree, under its lock, and comes into force
// when the team next forks, or it or a team around it passes a barrier, or at once.
#pragma once

#include "placement/need.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// As hearth_who_t.
enum class Who : std::int32_t { thread = 0, team = 1, next_team = 2 };
// All of these return 0 or an errno value.
int attach(Thread* self, placement::ByteRange range, Who who, placement::Access use, double passes);
int detach(Thread* self, std::uint64_t address, Who who);
int follow(Thread* self, Who who);
int say_affinity(Thread* self, placement::ByteRange range, placement::Access use, bool when_all);

/// Whether the caller has said that it uses a part of the range.
bool is_attached_to_caller(Thread* self, placement::ByteRange range);

/// Before the team's next region, or behind a barrier of it: threads and memory move, if what was said since the last time
/// asks for it.
void put_hints_in_force(Team* team);

/// The area is gone, and nobody uses it any more.
void forget_hints_in(placement::ByteRange range);

}  // namespace hearth::rt
