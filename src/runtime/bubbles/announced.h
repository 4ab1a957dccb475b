// Announced next touch: who will touch memory that waits for its next touch, and so moves it first (memory/next_touch.h).
//
// A thread that has attached the memory to itself moves it when it announces, or attaches. What is announced for a region that
// the thread is going to fork is divided among its members as a static schedule divides a loop, and each moves its part when
// it enters the region.
#pragma once

#include "placement/need.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// At start-up.
void hear_of_announcements();
/// The primary thread forks: whether its members have parts to move. Before the fork.
bool hand_announced_to(Team* team);
/// A member has entered the region.
void move_announced_part(Thread* self, const Member* member);
/// Whoever touches the range next has it attached. 0 or an errno value.
int attach_on_touch(Thread* self, placement::ByteRange range);
/// The calling thread will touch the range.
void move_announced_here(Thread* self, placement::ByteRange range);
/// The same for a part that may be small, as a task's: if it pays.
void move_announced_for_task(Thread* self, placement::ByteRange range);

}  // namespace hearth::rt
