#include "runtime/locality/dealing.h"

#include "base/cpu.h"
#include "runtime/locality/footprint.h"
#include "runtime/locality/load.h"
#include "runtime/locality/machine_view.h"
#include "runtime/locality/page_checks.h"
#include "runtime/state/process.h"
#include "runtime/tools/decisions.h"

namespace hearth::rt {

void note_dealing(TeamLocality& all, Member* member) {
  if (HEARTH_LIKELY(member->deals.load(std::memory_order_relaxed))) return;
  member->deals.store(true, std::memory_order_relaxed);
  count_shared_write();
  if (all.dealers.fetch_add(1, std::memory_order_relaxed) != 0 || all.dealt() != 0) return;
  bool released = false;
  for (std::int32_t i = 0; i < all.locations; ++i) released |= all.inboxes[i].share().released;
  for (std::int32_t i = 0; i < all.locations; ++i) all.inboxes[i].begin_dealing(released);
}

void end_dealing(TeamLocality& all, Member* member) {
  if (HEARTH_LIKELY(!member->deals.load(std::memory_order_relaxed))) return;
  // Itself between regions, and who begins the next one for all: whoever takes the mark back counts it off.
  count_shared_write();
  if (member->deals.exchange(false, std::memory_order_relaxed))
    all.dealers.fetch_sub(1, std::memory_order_relaxed);
}

DealingNow dealing_now(const TeamLocality& all) {
  DealingNow now;
  now.dealing = all.dealers.load(std::memory_order_relaxed) != 0;
  for (Location i = 0; i < all.locations; ++i) {
    const policy::Share share = all.inboxes[i].share();
    now.released |= share.released;
    now.before += share.before;
    now.dealt += share.dealt;
    now.workers += all.workers[i].load(std::memory_order_relaxed);
  }
  return now;
}

policy::FarTasks far_tasks(const TeamLocality& all, const DealingNow& now, Location here, Location where) {
  policy::FarTasks far{all.inboxes[where].size(), all.task_time(where)};
  far.workers = all.workers[where].load(std::memory_order_relaxed);
  far.stake = all.inboxes[where].stake();
  far.dealing = now.dealing;
  if (here < 0) return far;
  policy::Shares shares;
  shares.all = now.tasks();
  shares.workers = now.workers;
  // While tasks are being dealt some for either may be still to come.
  const policy::Share victims = all.inboxes[where].share();
  shares.victims = far.dealing ? victims.expects() : victims.has();
  shares.victim_workers = far.workers;
  const policy::Share own = all.inboxes[here].share();
  shares.thiefs = far.dealing ? own.expects() : own.has();
  shares.thief_workers = all.workers[here].load(std::memory_order_relaxed);
  shares.released = now.released;
  far.surplus = !(far.dealing && now.released) && policy::has_surplus(shares);
  return far;
}

bool asks_where(Thread* self) {
  Member* member = self->member;
  const std::uint64_t now = ticks();
  if (member->created_served == self->tasks_served)
    member->create_time = policy::mean_creation(member->create_time, now - member->created_at);
  member->created_at = now;
  member->created_served = self->tasks_served;
  TeamLocality& all = *self->team->locality;
  note_dealing(all, member);
  refresh_loads(all, now);
  policy::LoadView load;
  weigh(self, load);
  const Location here = member->location.load(std::memory_order_relaxed);
  if (here >= 0) load.stake_here = all.inboxes[here].stake();
  return process.policy->asks(load);
}

Location deal(Thread* self, Task* task, bool created) {
  TeamLocality& all = *task->team->locality;
  Footprint& footprint = *task->footprint;
  check_before_dealing(all, task->team->epoch(), footprint, self->member->turn);
  const policy::MachineTables& machine = machine_tables();
  placement::Need need(all.locations);
  resolve(footprint, need);
  policy::LoadView load;
  load.staffed = all.staffed.load(std::memory_order_relaxed);
  load.turn = self->member->turn++;
  const policy::MachineView& view = footprint.stated ? machine.stated : machine.view;
  const Location here = self->member->location.load(std::memory_order_relaxed);
  Waits waits;
  if (HEARTH_UNLIKELY(process.weighs_load)) weigh_locations(self, created, waits, load);
  const Location chosen = process.policy->deal(view, need, here, load);
  if (HEARTH_UNLIKELY(process.weighs_load) && chosen != policy::kHere)
    all.inboxes[chosen].note_stake(waits.stake);
  if (HEARTH_UNLIKELY(decisions::on))
    decisions::note(task, machine.view,
                    {.released = !created,
                     .stated = footprint.stated,
                     .creator = here,
                     .need = need,
                     .load = load,
                     .chosen = chosen});
  return chosen;
}

}  // namespace hearth::rt
