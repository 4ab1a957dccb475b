// See next_touch.h.
//
// Orders: the announcer is stored with release and loaded with acquire.
#include "memory/next_touch.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "memory/costs.h"
#include "memory/kernel_pages.h"
#include "memory/managed.h"
#include "memory/owners.h"
#include "memory/page_map.h"
#include "memory/touch_trap.h"
#include "topology/system_root.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;

constinit std::atomic<Announcer> the_announcer{nullptr};

AreaResult announce(ByteRange pages) {
  if (!areas.announce(pages)) return AreaResult::no_memory;
  if (const Announcer announcer = the_announcer.load(std::memory_order_acquire)) announcer(pages);
  return AreaResult::done;
}

bool kernel_balances() {
  std::int64_t on = 0;
  return topology::SystemRoot().read_number("/proc/sys/kernel/numa_balancing", on) && (on & 1) != 0;
}

// False: the kernel does not do that here.
bool leave_to_kernel(const MemoryHomes& machine, ByteRange pages) {
  if (!kernel_balances()) {
    HEARTH_WARN_ONCE(
        "next touch by the kernel: its automatic balancing is off (sysctl kernel.numa_balancing). Memory moves where the "
        "runtime knows who will touch it.");
    return false;
  }
  std::uint16_t nodes[placement::kMaxLocations];
  std::int32_t count = 0;
  for (std::int32_t h = 0; h < machine.homes.count; ++h) nodes[count++] = machine.node[machine.homes.at[h]];
  if (kernel::balance(reinterpret_cast<void*>(pages.begin), pages.bytes(), nodes, count) != kernel::Outcome::done) {
    HEARTH_WARN_ONCE(
        "next touch by the kernel: it has no balancing of single ranges (before Linux 5.12), or forbids it. Memory moves "
        "where the runtime knows who will touch it.");
    return false;
  }
  owners_unknown(pages);
  page_map.forget(pages);
  return true;
}

bool trap(ByteRange pages) {
  const char* why = nullptr;
  if (close_until_touched(pages, why)) return true;
  HEARTH_WARN_ONCE("next touch by a trap is not possible here: %s. Memory moves where the runtime knows who will touch it.",
                   why);
  return false;
}

struct Found {
  Migration& migration;
  ByteRange range;
  Location to;
  double passes = kAtAnyCost;
  bool any = false;
};

enum class Worth : std::uint8_t { nothing_to_do, no, yes };

Worth worth_moving(ByteRange part, Location to, double passes) {
  const placement::CostModel& model = costs();
  const placement::Shares shares = look_up(part);
  double saved = 0, price = 0;
  for (Location at = 0; at < shares.locations; ++at) {
    const auto bytes = static_cast<double>(shares.at[at]);
    if (at == to || bytes == 0) continue;
    saved += passes * (model.read_ns(to, at, bytes) - model.read_ns(to, to, bytes));
    price += model.migrate_ns(at, to, model.pages(bytes));
  }
  if (price == 0) return Worth::nothing_to_do;
  return saved > price ? Worth::yes : Worth::no;
}

void add_found(const Area& area, void* data) {
  auto& found = *static_cast<Found*>(data);
  const ByteRange part = common(area.announced, found.range);
  if (part.bytes() == 0) return;
  const Worth worth = found.passes == kAtAnyCost ? Worth::yes : worth_moving(part, found.to, found.passes);
  if (worth == Worth::no) return;
  if (worth == Worth::nothing_to_do) return areas.end_announcement(part);
  if (!found.migration.add(part, found.to)) return;
  areas.end_announcement(part);
  found.any = true;
}

}  // namespace

AreaResult next_touch(ByteRange pages, Touch how) {
  if (pages.bytes() == 0 || shares_pages(pages)) return AreaResult::invalid;
  if (const AreaResult covered = areas.cover(pages); covered != AreaResult::done) return covered;
  const MemoryHomes& machine = memory_homes();
  if (!machine.several()) return AreaResult::done;  // it is where it can be
  if (machine.kernel_places) {
    if (how == Touch::kernel && leave_to_kernel(machine, pages)) return AreaResult::done;
    if (how == Touch::trap && trap(pages)) return AreaResult::done;
  }
  return announce(pages);
}

void set_announcer(Announcer announcer) { the_announcer.store(announcer, std::memory_order_release); }

bool add_announced(Migration& migration, ByteRange range, Location to, double passes) {
  if (!areas.any_announced()) return false;
  Found found{migration, whole_pages(range), to, passes};
  if (found.range.bytes() != 0) areas.for_each_announced(found.range, add_found, &found);
  return found.any;
}

}  // namespace hearth::memory
