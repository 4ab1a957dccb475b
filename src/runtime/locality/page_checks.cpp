#include "runtime/locality/page_checks.h"

#include "base/clock.h"
#include "memory/owners.h"
#include "policy/tuning.h"

namespace hearth::rt {
namespace {

// Once a region, before the first task is dealt, and by members without work: pages may lie elsewhere now.
// Memory may have been given back and taken anew, which Hearth is not told of memory that is not its own.
// What it distributed itself moves seldom, and is looked at once in a tick at most.
void check_answers(TeamLocality& all) {
  std::uint64_t probes[TeamLocality::kRecent];
  for (std::uint32_t i = 0; i < TeamLocality::kRecent; ++i)
    probes[i] = all.recent[i].load(std::memory_order_relaxed);
  const std::uint32_t tick = memory::page_map.tick();
  if (!memory::page_map.holds(probes, TeamLocality::kRecent)) memory::page_map.forget_everything();
  if (all.checked_tick.load(std::memory_order_relaxed) == tick) return;
  all.checked_tick.store(tick, std::memory_order_relaxed);
  memory::check_owners(probes, TeamLocality::kRecent);
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

void check_before_dealing(TeamLocality& all, std::uint32_t epoch, const Footprint& footprint, std::uint32_t turn) {
  if (HEARTH_UNLIKELY(all.checked_epoch.load(std::memory_order_relaxed) != epoch)) {
    all.checked_epoch.store(epoch, std::memory_order_relaxed);
    check_answers(all);
  }
  if (footprint.count != 0)
    all.recent[turn % TeamLocality::kRecent].store(probe_of(footprint.ranges[0], turn), std::memory_order_relaxed);
}

void check_when_idle(TeamLocality& all) {
  const std::uint64_t now = counter_ns();
  if (HEARTH_LIKELY(now < all.idle_check.load(std::memory_order_relaxed))) return;
  all.idle_check.store(now + tuning::kIdleCheckNs, std::memory_order_relaxed);
  check_answers(all);
}

}  // namespace hearth::rt
