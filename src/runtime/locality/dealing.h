// Dealing: asking the policy where a task should run, and whether tasks are being dealt at present.
//
// What follows from the numbers is policy/dealing.h; here they are counted. Called by the member `self` on its own
// behalf, in a team with a TeamLocality. runtime/locality/README.md tells the policy in force.
#pragma once

#include "policy/account.h"
#include "policy/dealing.h"
#include "policy/task_policy.h"
#include "runtime/locality/team_locality.h"

namespace hearth::rt {

/// The member deals a task that it has created; it does not any more, since it looks for work or begins a
/// region.
void note_dealing(TeamLocality& all, Member* member);
void end_dealing(TeamLocality& all, Member* member);
/// All locations together.
policy::DealingNow dealing_now(const TeamLocality& all);
/// Tasks that wait at `where`, as the policy sees them for a thief at `here`.
policy::FarTasks far_tasks(const TeamLocality& all, const policy::DealingNow& now, Location here, Location where);

/// Where the task should run; kHere: where it became ready. Only for tasks with a footprint, in a team with a
/// TeamLocality. `created`: it is ready as its creator makes it, and not because a task has ended.
Location deal(Thread* self, Task* task, bool created);

/// What the policy is shown of a task with a footprint that has become ready since another one has ended at `here`.
policy::Released as_released(const Task* task, Location here);

/// What the policy is shown of a location's load at that time (counter_ns()), but for where tasks would wait.
policy::LoadView load_at(const Thread* self, Location here, std::uint64_t now);

/// Where load is weighed: the member has created a task that it may deal. Whether the policy shall be asked
/// where; and the same of a task that the member has made ready by ending another one. Pointers, which explained.h
/// sets, so that explaining costs nothing when nobody does.
using AsksWhere = policy::Asking (*)(Thread* self, const Task* task);
using AsksWhereReleased = bool (*)(Thread* self, const Task* task);
extern AsksWhere asks_where;
extern AsksWhereReleased asks_where_released;

}  // namespace hearth::rt
