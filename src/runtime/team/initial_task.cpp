#include "runtime/team/initial_task.h"

#include "runtime/team/barrier.h"
#include "runtime/state/process.h"
#include "runtime/team/implicit_task.h"
#include "runtime/state/fork_word.h"
#include "runtime/team/build_team.h"

namespace hearth::rt {

void run_initial_task(Thread* self, const InitialTask& how, TaskFunction function, void* data) {
  Team* const team_outside = self->team;
  Member* const member_outside = self->member;
  Task* const task_outside = self->task;
  const std::int32_t tid = self->tid;
  void* const codeptr_outside = self->ompt_codeptr;
  const std::int32_t state_outside = self->ompt_state;

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
  team->fork.go.store(ForkWord::region(team->epoch() + 1, 1).bits, std::memory_order_relaxed);
  self->team = team;
  self->member = team->members[0];
  self->tid = 0;
  // Regions inside are placed around this thread's place.
  self->member->place = member_outside->place;
  self->member->place_first = member_outside->place_first;
  self->member->place_count = member_outside->place_count;
  begin_implicit_task(self, self->member);

  const std::int32_t index = how.league != nullptr ? how.team_num : 1;
  if (events::active()) {
    events::initial_task_begin(self, how.num_teams, index,
                               how.league != nullptr ? how.league->parallel_data() : 0);
    events::enter_user_code(self->task, __builtin_frame_address(0));
  }
  function(data);
  wait_for_join(self);
  if (events::active()) events::initial_task_end(self, index);

  self->team = team_outside;
  self->member = member_outside;
  self->task = task_outside;
  self->tid = tid;
  self->ompt_codeptr = codeptr_outside;
  self->ompt_state = state_outside;
  if (self->initial_team != nullptr) drop_initial_team(self);
  self->initial_team = team;
}

void drop_initial_team(Thread* self) {
  if (self->initial_team == nullptr) return;
  disband(self->initial_team);
  self->initial_team = nullptr;
}

}  // namespace hearth::rt
