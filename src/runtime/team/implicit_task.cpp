#include "runtime/team/implicit_task.h"

#include "runtime/binding/places.h"
#include "runtime/bubbles/seats.h"
#include "runtime/locality/dealing.h"
#include "runtime/locality/team_locality.h"
#include "runtime/loop/workshare.h"
#include "runtime/state/process.h"
#include "runtime/task/finish.h"

namespace hearth::rt {

void begin_implicit_task(Thread* self, Member* member) {
  Team* team = self->team;
  Task& task = member->implicit;
  drop_belongings(self, &task);  // of the last region's implicit task in this slot
  Task* encountering = team->parent_task;
  task.parent.store(encountering, std::memory_order_relaxed);
  task.depth.store(encountering == nullptr ? 0 : encountering->depth.load(std::memory_order_relaxed) + 1,
                   std::memory_order_relaxed);
  task.flags =
      kTaskImplicit | kTaskTied | (encountering == nullptr ? kTaskInitial : encountering->flags & kTaskFinal);
  task.team = team;
  task.icvs = team->icvs;
  task.group = team->region_group;
  task.children.open(self);
  if (HEARTH_UNLIKELY(team->resync_epoch == team->epoch())) {
    member->phase = team->phase_base;
    restart_member(member);
  }
  member->singles = 0;
  member->in_barrier = false;
  self->task = &task;
  if (HEARTH_UNLIKELY(team->locality != nullptr)) {
    end_dealing(*team->locality, member);
    locate(self, member);
  }
}

void move_to_place(Thread* self, Member* member) {
  take_place(self, member);
  if (process.seats_teams) take_seat(self, member);
  if (member->team->locality != nullptr) locate(self, member);
}

}  // namespace hearth::rt
