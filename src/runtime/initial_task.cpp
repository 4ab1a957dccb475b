#include "runtime/initial_task.h"

#include "runtime/barrier.h"
#include "runtime/runtime.h"
#include "runtime/tasking.h"
#include "runtime/team_memory.h"

namespace hearth::rt {

void run_initial_task(Thread* self, const InitialTask& how, TaskFunction function, void* data) {
  Team* const team_outside = self->team;
  Member* const member_outside = self->member;
  Task* const task_outside = self->task;
  const std::int32_t tid = self->tid;

  Team* team = self->initial_team;
  self->initial_team = nullptr;
  if (team == nullptr) {
    team = make_team(self, 1);
    // Nothing is around an initial task: levels, ancestors and thread limits are counted from here.
    team->parent = nullptr;
    team->parent_member = nullptr;
    team->level = 0;
    team->active_level = 0;
  }
  team->own_icvs = how.icvs != nullptr ? *how.icvs : process.initial_icvs;
  team->own_icvs.retired = nullptr;
  if (how.thread_limit > 0) team->own_icvs.thread_limit = how.thread_limit;
  team->num_teams = how.num_teams;
  team->team_num = how.team_num;
  team->icvs = &team->own_icvs;
  ++team->epoch;
  self->team = team;
  self->member = team->members[0];
  self->tid = 0;
  // Regions inside are placed around this thread's place.
  self->member->place = member_outside->place;
  self->member->place_first = member_outside->place_first;
  self->member->place_count = member_outside->place_count;
  begin_implicit_task(self, self->member);

  function(data);
  wait_for_join(self);

  self->team = team_outside;
  self->member = member_outside;
  self->task = task_outside;
  self->tid = tid;
  if (self->initial_team != nullptr) drop_initial_team(self);
  self->initial_team = team;
}

void drop_initial_team(Thread* self) {
  if (self->initial_team == nullptr) return;
  disband(self->initial_team);
  self->initial_team = nullptr;
}

}  // namespace hearth::rt
