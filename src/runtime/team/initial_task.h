// An initial task within a program's thread: what a target region on the host, and each team of a league,
// runs in.
//
// Called by the thread `self` on its own behalf. The region starts as if the thread had just come: level 0,
// thread 0 of a team of one. The team is kept in the Thread for its next initial task, with the workers of
// the parallel regions inside; an initial task inside an initial task makes one of its own.
#pragma once

#include <cstdint>

#include "runtime/tools/events.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

struct InitialTask {
  const Icvs* icvs = nullptr;     // null: as the environment set them, which is what a device starts with
  std::int32_t thread_limit = 0;  // 0: as in the ICVs
  std::int32_t num_teams = 1;
  std::int32_t team_num = 0;
  const events::League* league = nullptr;  // for a team of a league
};

/// Run `function(data)` in an initial task and wait for the tasks it made.
void run_initial_task(Thread* self, const InitialTask& how, TaskFunction function, void* data);

/// Free the kept team, when the thread ends or gives its resources back.
void drop_initial_team(Thread* self);

}  // namespace hearth::rt
