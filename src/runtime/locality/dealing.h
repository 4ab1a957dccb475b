// Dealing: asking the policy where a task should run, and whether tasks are being dealt at present.
//
// Called by the member `self` on its own behalf, in a team with a TeamLocality. runtime/locality/README.md tells the policy in force.
#pragma once

#include "policy/task_policy.h"
#include "runtime/locality/team_locality.h"

namespace hearth::rt {

/// The member deals a task that it has created; it does not any more, since it looks for work or begins a
/// region.
void note_dealing(TeamLocality& all, Member* member);
void end_dealing(TeamLocality& all, Member* member);
/// What a look for far tasks has to know of the present dealing, at all locations together.
struct DealingNow {
  bool dealing = false;   // tasks are being dealt: the dealing before tells how many there will be,
  bool released = false;  // but nothing where tasks release others
  std::int64_t before = 0, dealt = 0;  // tasks of that one, and of this one
  std::int64_t workers = 0;

  std::int64_t tasks() const { return dealing ? before : dealt; }
};
DealingNow dealing_now(const TeamLocality& all);
/// Tasks that wait at `where`, as the policy sees them for a thief at `here`.
policy::FarTasks far_tasks(const TeamLocality& all, const DealingNow& now, Location here, Location where);

/// Where the task should run; kHere: where it became ready. Only for tasks with a footprint, in a team with a
/// neighbourhood. `created`: it is ready as its creator makes it, and not because a task has ended.
Location deal(Thread* self, Task* task, bool created);

/// Where load is weighed: the member has created a task that it may deal. Whether the policy shall be asked
/// where.
bool asks_where(Thread* self);

}  // namespace hearth::rt
