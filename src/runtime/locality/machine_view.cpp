#include "runtime/locality/machine_view.h"

#include <atomic>
#include <new>

#include "base/log.h"
#include "memory/owners.h"
#include "policy/tuning.h"
#include "runtime/binding/locations.h"
#include "runtime/binding/places.h"
#include "runtime/bubbles/seats.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/tools/check.h"
#include "topology/current.h"
#include "topology/emulator.h"

namespace hearth::rt {
namespace {

std::int32_t slowdown(const Settings& s) {
  if (s.slowdown != 0) return s.slowdown;
  const bool nothing_is_far = topology::machine().pretended || topology::is_emulated();
  return nothing_is_far ? tuning::kSlowdownWhereNothingIsFar : 1;
}

policy::MachineTables* make_tables() {
  auto* tables = new (std::nothrow) policy::MachineTables;
  if (tables == nullptr) fatal("out of memory: no room for the table of distances");
  const Settings& s = settings();
  tables->fill(topology::machine(), memory::memory_homes().locations,
               {s.significance, s.steal_threshold, s.vicinity, slowdown(s)});
  return tables;
}

// Where the threads of a pretended machine are: on their seat or the place they are bound to, else dealt round.
Location pretended_location() {
  Thread* self = Thread::current_or_null();
  const std::int32_t count = memory::memory_homes().locations;
  if (self == nullptr || self->member == nullptr) return 0;
  const Location seat = location_of_seat(member_of_bubble(self)->seat);
  if (seat >= 0 && seat < count) return seat;
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

}  // namespace

const policy::MachineTables& machine_tables() {
  static std::atomic<policy::MachineTables*> made{nullptr};
  policy::MachineTables* seen = made.load(std::memory_order_acquire);  // pairs with the exchange below
  if (HEARTH_LIKELY(seen != nullptr)) return *seen;
  policy::MachineTables* mine = make_tables();
  if (made.compare_exchange_strong(seen, mine, std::memory_order_acq_rel, std::memory_order_acquire))
    return *mine;
  delete mine;
  return *seen;
}

const Location* locations_near(Location from) { return machine_tables().near(from < 0 ? 0 : from); }

void locate_threads_of_pretended_machine() {
  if (!settings().machine.empty() && has_several_locations()) memory::set_locator(pretended_location);
}

bool several_locations() {
  if (check::on) return true;  // footprints are what it is about
  const policy::TaskPolicy& policy = *process.policy;
  if (policy.deals_here_always() || policy.one_queue()) return false;
  if (!has_several_locations()) return false;
  if (const std::size_t all = topology::machine().locations.size(); all > placement::kMaxLocations)
    HEARTH_WARN_ONCE("this machine has %zu locations, and Hearth knows %d at most: tasks are dealt to these.",
                     all, placement::kMaxLocations);
  return true;
}

}  // namespace hearth::rt
