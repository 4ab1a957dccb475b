#include "runtime/locality/neighbourhood.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/log.h"
#include "memory/owners.h"
#include "policy/machine_tables.h"
#include "runtime/binding/places.h"
#include "runtime/tools/check.h"
#include "runtime/tools/decisions.h"
#include "runtime/locality/footprint.h"
#include "runtime/state/process.h"
#include "runtime/settings/settings.h"
#include "topology/current.h"
#include "topology/system_root.h"

namespace hearth::rt {
namespace {

policy::MachineTables* make_tables() {
  auto* tables = new (std::nothrow) policy::MachineTables;
  if (tables == nullptr) fatal("out of memory: no room for the table of distances");
  const Settings& s = settings();
  tables->fill(topology::machine(), memory::memory_homes().locations,
               {s.significance, s.steal_threshold, s.vicinity, s.slowdown});
  return tables;
}

const policy::MachineTables& tables() {
  static std::atomic<policy::MachineTables*> made{nullptr};
  policy::MachineTables* seen = made.load(std::memory_order_acquire);  // pairs with the exchange below
  if (HEARTH_LIKELY(seen != nullptr)) return *seen;
  policy::MachineTables* mine = make_tables();
  if (made.compare_exchange_strong(seen, mine, std::memory_order_acq_rel, std::memory_order_acquire))
    return *mine;
  delete mine;
  return *seen;
}

// Where the threads of a pretended machine are: on the place they are bound to, else dealt round.
Location pretended_location() {
  Thread* self = Thread::current_or_null();
  const std::int32_t count = memory::memory_homes().locations;
  if (self == nullptr || self->member == nullptr) return 0;
  const std::int32_t place = self->member->place;
  if (place >= 0) {
    Location found = placement::kUnknown;
    for_each_cpu_of_place(
        place,
        [](void* where, unsigned cpu) {
          auto& location = *static_cast<Location*>(where);
          if (location < 0) location = topology::machine().location_of_cpu(cpu);
        },
        &found);
    if (found >= 0 && found < count) return found;
  }
  return static_cast<Location>(static_cast<std::int64_t>(self->tid) * count / self->team->size);
}

// One read decides whether the machine has to be looked at, which takes milliseconds on large ones.
bool kernel_has_several_nodes() {
  topology::CpuMask nodes;
  return topology::SystemRoot().read_list("/sys/devices/system/node/online", nodes) && nodes.count() > 1;
}

}  // namespace

bool Inbox::put(Task* task, bool created) {
  lock_.lock();
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (size == capacity_) {
    const std::uint32_t capacity = capacity_ == 0 ? 256 : capacity_ * 2;
    Task** ring = size >= kMost ? nullptr : static_cast<Task**>(std::malloc(capacity * sizeof(Task*)));
    if (ring == nullptr) {
      lock_.unlock();
      return false;
    }
    for (std::uint32_t i = 0; i < size; ++i) ring[i] = at(i);
    std::free(ring_);
    ring_ = ring;
    capacity_ = capacity;
    first_ = 0;
  }
  at(size) = task;
  count_shared_write(2);
  size_.store(size + 1, std::memory_order_relaxed);
  if (created) {
    created_.store(created_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    dealt_.store(dealt_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else if (!released_.load(std::memory_order_relaxed)) {
    released_.store(true, std::memory_order_relaxed);
  }
  lock_.unlock();
  return true;
}

const policy::MachineView& machine_view() { return tables().view; }

const Location* locations_near(Location from) { return tables().near(from < 0 ? 0 : from); }

bool several_locations() {
  if (check::on) return true;  // footprints are what it is about
  const policy::TaskPolicy& policy = *process.policy;
  if (policy.deals_here_always() || policy.one_queue()) return false;
  const Settings& s = settings();
  if (s.machine.empty() && !s.llc_locations && !kernel_has_several_nodes()) return false;
  const memory::MemoryHomes& homes = memory::memory_homes();
  if (!homes.several()) return false;
  if (const std::size_t all = topology::machine().locations.size(); all > placement::kMaxLocations)
    HEARTH_WARN_ONCE("this machine has %zu locations, and Hearth knows %d at most: tasks are dealt to these.",
                     all, placement::kMaxLocations);
  if (topology::machine().pretended) memory::set_locator(pretended_location);
  return true;
}

Neighbourhood* make_neighbourhood() {
  const std::int32_t count = machine_view().locations;
  void* memory = nullptr;
  void* inboxes = nullptr;
  if (posix_memalign(&memory, alignof(Neighbourhood), sizeof(Neighbourhood)) != 0 ||
      posix_memalign(&inboxes, alignof(Inbox), sizeof(Inbox) * static_cast<std::size_t>(count)) != 0)
    fatal("out of memory: no room for a team's inboxes");
  auto* neighbourhood = new (memory) Neighbourhood;
  neighbourhood->locations = count;
  neighbourhood->inboxes = static_cast<Inbox*>(inboxes);
  for (std::int32_t i = 0; i < count; ++i) new (&neighbourhood->inboxes[i]) Inbox;
  return neighbourhood;
}

void free_neighbourhood(Neighbourhood* neighbourhood) {
  for (std::int32_t i = 0; i < neighbourhood->locations; ++i) neighbourhood->inboxes[i].~Inbox();
  std::free(neighbourhood->inboxes);
  neighbourhood->~Neighbourhood();
  std::free(neighbourhood);
}

void Neighbourhood::count_worker(Location where, int difference) {
  // Sequentially consistent: of several that change the number, the last one to look sees the last number.
  std::atomic<std::uint32_t>& number = workers[where];
  number.fetch_add(static_cast<std::uint32_t>(difference), std::memory_order_seq_cst);
  const std::uint64_t bit = std::uint64_t{1} << where;
  bool any;
  do {
    any = number.load(std::memory_order_seq_cst) != 0;
    if (any != ((staffed.load(std::memory_order_seq_cst) & bit) != 0)) {
      count_shared_write();
      if (any)
        staffed.fetch_or(bit, std::memory_order_seq_cst);
      else
        staffed.fetch_and(~bit, std::memory_order_seq_cst);
    }
  } while (any != (number.load(std::memory_order_seq_cst) != 0));
}

void locate(Thread* self, Member* member) {
  Neighbourhood& all = *self->team->neighbourhood;
  const Location now = memory::location_here();
  const Location before = member->location.load(std::memory_order_relaxed);
  if (HEARTH_LIKELY(now == before)) return;
  count_shared_write(2);
  if (before >= 0) all.count_worker(before, -1);
  if (now >= 0) all.count_worker(now, 1);
  member->location.store(now, std::memory_order_relaxed);
}

void recount_workers(Team* team) {
  Neighbourhood& all = *team->neighbourhood;
  for (std::int32_t i = 0; i < all.locations; ++i) all.workers[i].store(0, std::memory_order_relaxed);
  all.staffed.store(0, std::memory_order_relaxed);
  // The others count themselves when they enter the region.
  for (std::int32_t i = 0; i < team->staffed; ++i) {
    team->members[i]->location.store(placement::kUnknown, std::memory_order_relaxed);
    end_dealing(all, team->members[i]);
  }
}

namespace {

// Once a region, before the first task is dealt, and by members without work: pages may lie elsewhere now.
// Memory may have been given back and taken anew, which Hearth is not told of memory that is not its own.
// What it distributed itself moves seldom, and is looked at once in a tick at most.
void check_answers(Neighbourhood& all) {
  std::uint64_t probes[Neighbourhood::kRecent];
  for (std::uint32_t i = 0; i < Neighbourhood::kRecent; ++i)
    probes[i] = all.recent[i].load(std::memory_order_relaxed);
  const std::uint32_t tick = memory::page_map.tick();
  if (!memory::page_map.holds(probes, Neighbourhood::kRecent)) memory::page_map.forget_everything();
  if (all.checked_tick.load(std::memory_order_relaxed) == tick) return;
  all.checked_tick.store(tick, std::memory_order_relaxed);
  memory::check_owners(probes, Neighbourhood::kRecent);
}

// A page by which the range can be checked: one about which the PageMap was asked; of managed memory any.
std::uint64_t probe_of(const FootprintRange& range, std::uint32_t turn) {
  const std::uint64_t random = turn * 0x9e3779b9u;  // below 2^32
  if (!memory::owner_table.manages(range.begin))
    return memory::PageMap::a_page_of({range.begin, range.begin + range.length},
                                      static_cast<std::uint32_t>(random));
  return range.begin + (random * (range.length / memory::kPage) >> 32) * memory::kPage;
}

}  // namespace

void check_when_idle(Neighbourhood& all) {
  constexpr std::uint64_t kTicks = 250'000'000;  // about 100 ms
  const std::uint64_t now = ticks();
  if (HEARTH_LIKELY(now < all.idle_check.load(std::memory_order_relaxed))) return;
  all.idle_check.store(now + kTicks, std::memory_order_relaxed);
  check_answers(all);
}

void note_dealing(Neighbourhood& all, Member* member) {
  if (HEARTH_LIKELY(member->deals.load(std::memory_order_relaxed))) return;
  member->deals.store(true, std::memory_order_relaxed);
  count_shared_write();
  if (all.dealers.fetch_add(1, std::memory_order_relaxed) != 0 || all.dealt() != 0) return;
  bool released = false;
  for (std::int32_t i = 0; i < all.locations; ++i) released |= all.inboxes[i].share().released;
  for (std::int32_t i = 0; i < all.locations; ++i) all.inboxes[i].begin_dealing(released);
}

void end_dealing(Neighbourhood& all, Member* member) {
  if (HEARTH_LIKELY(!member->deals.load(std::memory_order_relaxed))) return;
  // Itself between regions, and who begins the next one for all: whoever takes the mark back counts it off.
  count_shared_write();
  if (member->deals.exchange(false, std::memory_order_relaxed))
    all.dealers.fetch_sub(1, std::memory_order_relaxed);
}

DealingNow dealing_now(const Neighbourhood& all) {
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

policy::FarTasks far_tasks(const Neighbourhood& all, const DealingNow& now, Location here, Location where) {
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

void note_task_time(const Thread* self, std::uint64_t ticks) {
  const Neighbourhood* all = self->team->neighbourhood;
  const Location here = self->member->location.load(std::memory_order_relaxed);
  if (all != nullptr && here >= 0) all->inboxes[here].note_task_time(ticks);
}

namespace {

// One of those who find it old does it for all.
void refresh_loads(Neighbourhood& all, std::uint64_t now) {
  constexpr std::uint64_t kTicks = 125'000;  // 50 us: little against what reading all inboxes takes
  std::uint64_t until = all.loads.until.load(std::memory_order_relaxed);
  if (HEARTH_LIKELY(now < until)) return;
  if (!all.loads.until.compare_exchange_strong(until, now + kTicks, std::memory_order_relaxed)) return;
  count_shared_write();
  std::int64_t times = 0;
  std::uint64_t time = 0;
  for (Location i = 0; i < all.locations; ++i) {
    const std::uint64_t here = all.inboxes[i].task_time();
    time += here;
    times += here != 0;
  }
  const DealingNow dealing = dealing_now(all);
  const policy::Load::All sum{.dealt = dealing.released ? 0 : std::max(dealing.before, dealing.dealt),
                              .workers = dealing.workers,
                              .task_time = times == 0 ? 0 : time / static_cast<std::uint64_t>(times)};
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

// Except for the waits.
void weigh(const Thread* self, policy::LoadView& load) {
  const Neighbourhood& all = *self->team->neighbourhood;
  load.task_time = all.loads.task_time.load(std::memory_order_relaxed);
  load.create_time = self->member->create_time;
  load.workers = static_cast<std::uint32_t>(self->team->size);
  load.dealers = static_cast<std::uint32_t>(std::max(all.dealers.load(std::memory_order_relaxed), 0));
}

// What LoadView points to.
struct Waits {
  std::uint64_t own[placement::kMaxLocations];
  std::uint64_t guests[placement::kMaxLocations];
  std::uint64_t stake = 0;
};

[[gnu::noinline]] void weigh_locations(const Thread* self, bool created, Waits& waits,
                                       policy::LoadView& load) {
  Neighbourhood& all = *self->team->neighbourhood;
  if (!created) refresh_loads(all, ticks());
  const Loads& loads = all.loads;
  for (Location i = 0; i < all.locations; ++i) {
    waits.own[i] = (created ? loads.wait : loads.queue)[i].load(std::memory_order_relaxed);
    waits.guests[i] = (created ? loads.guest_wait : loads.queue)[i].load(std::memory_order_relaxed);
  }
  weigh(self, load);
  load.wait = waits.own;
  load.guest_wait = waits.guests;
  load.stake = &waits.stake;
}

}  // namespace

bool asks_where(Thread* self) {
  Member* member = self->member;
  const std::uint64_t now = ticks();
  if (member->created_served == self->tasks_served)
    member->create_time = policy::mean_creation(member->create_time, now - member->created_at);
  member->created_at = now;
  member->created_served = self->tasks_served;
  Neighbourhood& all = *self->team->neighbourhood;
  note_dealing(all, member);
  refresh_loads(all, now);
  policy::LoadView load;
  weigh(self, load);
  const Location here = member->location.load(std::memory_order_relaxed);
  if (here >= 0) load.stake_here = all.inboxes[here].stake();
  return process.policy->asks(load);
}

Location deal(Thread* self, Task* task, bool created) {
  Neighbourhood& all = *task->team->neighbourhood;
  Footprint& footprint = *task->footprint;
  const std::uint32_t epoch = task->team->epoch();
  if (HEARTH_UNLIKELY(all.checked_epoch.load(std::memory_order_relaxed) != epoch)) {
    all.checked_epoch.store(epoch, std::memory_order_relaxed);
    check_answers(all);
  }
  if (footprint.count != 0) {
    const std::uint32_t turn = self->member->turn;
    all.recent[turn % Neighbourhood::kRecent].store(probe_of(footprint.ranges[0], turn),
                                                    std::memory_order_relaxed);
  }
  const policy::MachineTables& machine = tables();
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
