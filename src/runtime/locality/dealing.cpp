#include "runtime/locality/dealing.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "runtime/locality/accounts.h"
#include "runtime/locality/explained.h"
#include "runtime/locality/footprint.h"
#include "runtime/locality/load.h"
#include "runtime/locality/machine_view.h"
#include "runtime/locality/page_checks.h"
#include "runtime/state/process.h"
#include "runtime/tools/events.h"

namespace hearth::rt {

void note_dealing(TeamLocality& all, Member* member) {
  if (HEARTH_LIKELY(member->deals.load(std::memory_order_relaxed))) return;
  member->deals.store(true, std::memory_order_relaxed);
  count_shared_write();
  const std::int32_t others = all.dealers.fetch_add(1, std::memory_order_relaxed);
  if (!policy::begins_dealing(others, others == 0 ? all.dealt() : 0)) return;
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

policy::DealingNow dealing_now(const TeamLocality& all) {
  const std::int32_t dealers = all.dealers.load(std::memory_order_relaxed);
  policy::DealingNow now{.several = dealers > 1, .dealing = dealers != 0};
  for (Location i = 0; i < all.locations; ++i)
    now.add(all.inboxes[i].share(), all.workers[i].load(std::memory_order_relaxed));
  return now;
}

policy::FarTasks far_tasks(const TeamLocality& all, const policy::DealingNow& now, Location here, Location where) {
  const Inbox& inbox = all.inboxes[where];
  const policy::LocationNow victim{.share = inbox.share(),
                                   .depth = inbox.size(),
                                   .workers = all.workers[where].load(std::memory_order_relaxed),
                                   .task_time = all.task_time(where),
                                   .stake = inbox.stake()};
  if (here < 0) return policy::far_tasks(now, victim, nullptr);
  const policy::LocationNow own{.share = all.inboxes[here].share(),
                                .workers = all.workers[here].load(std::memory_order_relaxed)};
  return policy::far_tasks(now, victim, &own);
}

policy::LoadView load_at(const Thread* self, Location here, std::uint64_t now) {
  TeamLocality& all = *self->team->locality;
  refresh_loads(all, now);
  policy::LoadView load;
  weigh(self, load);
  if (here >= 0) load.stake_here = all.inboxes[here].stake();
  return load;
}

policy::Released as_released(const Task* task, Location here) {
  return {.here = here, .bytes = task->footprint->bytes(), .of_several = task->is(kTaskAfterSeveral)};
}

namespace {

policy::Asking asking(Thread* self, const Task* task, bool wanted) {
  return wanted ? account_of(task).asks(self->member->questions++) : policy::Asking::no;
}

policy::Asking asks_where_made(Thread* self, const Task* task) {
  Member* member = self->member;
  const std::uint64_t now = counter_ns();
  member->creation.created(now, self->tasks_served());
  note_dealing(*self->team->locality, member);
  const Location here = member->location.load(std::memory_order_relaxed);
  return asking(self, task, process.policy->asks(machine_view(), load_at(self, here, now), task->footprint->bytes()));
}

bool asks_where_freed(Thread* self, const Task* task) {
  const Location here = self->member->location.load(std::memory_order_relaxed);
  const policy::LoadView load = load_at(self, here, counter_ns());
  const bool wanted = process.policy->asks_released(machine_view(), load, as_released(task, here));
  return asking(self, task, wanted) == policy::Asking::yes;
}

}  // namespace

constinit AsksWhere asks_where = asks_where_made;
constinit AsksWhereReleased asks_where_released = asks_where_freed;

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
  load.released = !created;
  const policy::MachineView& view = footprint.stated ? machine.stated : machine.view;
  const Location here = self->member->location.load(std::memory_order_relaxed);
  Waits waits;
  policy::Account* const account = process.weighs_load ? &account_of(task) : nullptr;
  if (HEARTH_UNLIKELY(account != nullptr)) {
    weigh_locations(self, created, waits, load);
    load.believes = account->believes();
    load.tries = account->tries(load.workers);
    load.stake = &task->stake;
    load.home = &task->data_home;
  }
  const Location chosen = process.policy->deal(view, need, here, load);
  HEARTH_ASSERT(chosen == policy::kHere || (chosen >= 0 && chosen < all.locations), "policy %s names location %d of %d",
                process.policy->name(), chosen, all.locations);
  HEARTH_ASSERT(chosen == policy::kHere || (load.staffed >> chosen & 1) != 0,
                "policy %s names location %d, where no member is", process.policy->name(), chosen);
  if (HEARTH_UNLIKELY(account != nullptr)) {
    account->decided(chosen == policy::kHere ? 0 : task->stake);
    if (chosen != policy::kHere) all.inboxes[chosen].note_stake(task->stake);
  }
  if (events::active())
    tell_decision(self, task,
                  {.released = !created,
                   .stated = footprint.stated,
                   .creator = here,
                   .need = need,
                   .load = load,
                   .chosen = chosen});
  drop_decided_footprint(task);
  return chosen;
}

}  // namespace hearth::rt
