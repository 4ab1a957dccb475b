#include "runtime/locality/team_locality.h"

#include <cstdlib>
#include <new>

#include "base/log.h"
#include "memory/owners.h"
#include "runtime/locality/dealing.h"
#include "runtime/locality/machine_view.h"

namespace hearth::rt {

TeamLocality* make_team_locality() {
  const std::int32_t count = machine_view().locations;
  void* memory = nullptr;
  void* inboxes = nullptr;
  if (posix_memalign(&memory, alignof(TeamLocality), sizeof(TeamLocality)) != 0 ||
      posix_memalign(&inboxes, alignof(Inbox), sizeof(Inbox) * static_cast<std::size_t>(count)) != 0)
    fatal("out of memory: no room for a team's inboxes");
  auto* locality = new (memory) TeamLocality;
  locality->locations = count;
  locality->inboxes = static_cast<Inbox*>(inboxes);
  for (std::int32_t i = 0; i < count; ++i) new (&locality->inboxes[i]) Inbox;
  return locality;
}

void free_team_locality(TeamLocality* locality) {
  for (std::int32_t i = 0; i < locality->locations; ++i) locality->inboxes[i].~Inbox();
  std::free(locality->inboxes);
  locality->~TeamLocality();
  std::free(locality);
}

void TeamLocality::count_worker(Location where, int difference) {
  // All sequentially consistent. The partners are this function's own accesses in other threads: of several that
  // change the number, the last one to look sees the last number, and its bit is the one that stays.
  std::atomic<std::uint32_t>& number = workers[where];
  number.fetch_add(static_cast<std::uint32_t>(difference), std::memory_order_seq_cst);
  const std::uint64_t bit = std::uint64_t{1} << where;
  bool any;
  do {  // these pair with their like in other threads, as above
    any = number.load(std::memory_order_seq_cst) != 0;
    if (any != ((staffed.load(std::memory_order_seq_cst) & bit) != 0)) {
      count_shared_write();
      if (any)
        staffed.fetch_or(bit, std::memory_order_seq_cst);
      else
        staffed.fetch_and(~bit, std::memory_order_seq_cst);
    }
    // Sequentially consistent, as above: whoever changed the number after this look looks itself.
  } while (any != (number.load(std::memory_order_seq_cst) != 0));
}

void locate(Thread* self, Member* member) {
  TeamLocality& all = *self->team->locality;
  const Location now = memory::location_here();
  const Location before = member->location.load(std::memory_order_relaxed);
  if (HEARTH_LIKELY(now == before)) return;
  count_shared_write(2);
  if (before >= 0) all.count_worker(before, -1);
  if (now >= 0) all.count_worker(now, 1);
  member->location.store(now, std::memory_order_relaxed);
  self->live->location.store(now, std::memory_order_relaxed);
}

void recount_workers(Team* team) {
  TeamLocality& all = *team->locality;
  for (std::int32_t i = 0; i < all.locations; ++i) all.workers[i].store(0, std::memory_order_relaxed);
  all.staffed.store(0, std::memory_order_relaxed);
  // The others count themselves when they enter the region.
  for (std::int32_t i = 0; i < team->staffed; ++i) {
    team->members[i]->location.store(placement::kUnknown, std::memory_order_relaxed);
    end_dealing(all, team->members[i]);
  }
}

}  // namespace hearth::rt
