// Where workers begin when there are more threads than CPUs and nobody has a seat.
//
// The kernel sees too late that threads which only wait for each other pile up on one CPU: none of them is idle, and all are
// too warm to be moved. So a nested team begins on its part of the CPUs, which is its primary thread's share of the part of the
// team around; an outermost one is spread from its primary thread's CPU on. Nobody is bound: the kernel may move everybody at
// once. Called by who staffs a team, and by each new worker for itself, while the regions around run.
#pragma once

#include <cstdint>

namespace hearth::rt {

struct Member;
struct Team;

/// Whether new workers of `team` begin as told above: every CPU has a thread.
bool begins_in_crowd(const Team* team);
/// The primary thread of a nested team goes to the team's part of the CPUs.
void go_to_part_of(const Team* team);
/// For a new worker. `made_on`: the CPU of who staffs the team, the same for all whom it starts for it at a time.
void begin_in_crowd(const Member* member, std::int32_t made_on);

}  // namespace hearth::rt
