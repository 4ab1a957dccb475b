#include "runtime/locality/load.h"

#include <algorithm>

#include "base/clock.h"
#include "base/cpu.h"
#include "memory/sites.h"
#include "policy/tuning.h"
#include "runtime/locality/accounts.h"
#include "runtime/locality/dealing.h"
#include "runtime/locality/site_uses.h"
#include "runtime/state/footprint_ranges.h"

namespace hearth::rt {

void note_task_time(const Thread* self, const Task* task, std::uint64_t time) {
  const TeamLocality* all = self->team->locality;
  const Location here = self->member->location.load(std::memory_order_relaxed);
  if (all == nullptr || here < 0) return;
  all->inboxes[here].note_task_time(time);
  if (HEARTH_UNLIKELY(memory::sites::on) && task->footprint->sign == policy::Sign::none)
    note_site_uses(self, task, here, time);
  if (task->data_home == placement::kUnknown) return;
  LiveLine::add(here == task->data_home ? self->live->tasks_home : self->live->tasks_away);
  account_of(task).ended(here == task->data_home, time, task->stake, static_cast<std::uint32_t>(self->tasks_served()));
}

// One of those who find it old does it for all.
void refresh_loads(TeamLocality& all, std::uint64_t now) {
  std::uint64_t until = all.loads.until.load(std::memory_order_relaxed);
  if (HEARTH_LIKELY(now < until)) return;
  if (!all.loads.until.compare_exchange_strong(until, now + tuning::kLoadsRefreshNs, std::memory_order_relaxed)) return;
  count_shared_write();
  std::int64_t times = 0;
  std::uint64_t time = 0;
  for (Location i = 0; i < all.locations; ++i) {
    const std::uint64_t here = all.inboxes[i].task_time();
    time += here;
    times += here != 0;
  }
  const policy::Load::All sum = dealing_now(all).load(times == 0 ? 0 : time / static_cast<std::uint64_t>(times));
  Loads& loads = all.loads;
  loads.task_time.store(sum.task_time, std::memory_order_relaxed);
  for (Location i = 0; i < all.locations; ++i) {
    const policy::Load here{.share = all.inboxes[i].share(),
                            .depth = all.inboxes[i].size(),
                            .workers = all.workers[i].load(std::memory_order_relaxed)};
    loads.wait[i].store(here.wait(sum), std::memory_order_relaxed);
    loads.guest_wait[i].store(here.guest_wait(sum), std::memory_order_relaxed);
    loads.queue[i].store(here.queue(sum), std::memory_order_relaxed);
  }
}

void weigh(const Thread* self, policy::LoadView& load) {
  const TeamLocality& all = *self->team->locality;
  load.task_time = all.loads.task_time.load(std::memory_order_relaxed);
  load.create_time = self->member->creation.mean();
  load.workers = static_cast<std::uint32_t>(self->team->size);
  load.dealers = static_cast<std::uint32_t>(std::max(all.dealers.load(std::memory_order_relaxed), 0));
}

void weigh_locations(const Thread* self, bool created, Waits& waits,
                                       policy::LoadView& load) {
  TeamLocality& all = *self->team->locality;
  if (!created) refresh_loads(all, counter_ns());
  const Loads& loads = all.loads;
  for (Location i = 0; i < all.locations; ++i) {
    waits.own[i] = (created ? loads.wait : loads.queue)[i].load(std::memory_order_relaxed);
    waits.guests[i] = (created ? loads.guest_wait : loads.queue)[i].load(std::memory_order_relaxed);
  }
  weigh(self, load);
  load.wait = waits.own;
  load.guest_wait = waits.guests;
}

}  // namespace hearth::rt
