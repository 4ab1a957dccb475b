// Which remembered loop an instance of a loop uses, and what a team remembers at all. choose_remembered() runs once for each
// member and instance; the contract of the words it reads and writes is in loop_affinity.h.
#include <cinttypes>
#include <cstdlib>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/locality/machine_view.h"
#include "runtime/locality/team_locality.h"
#include "runtime/loop/loop_affinity.h"
#include "runtime/loop/loop_parts.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {
namespace {

constexpr std::uint32_t kMostParts = RememberedLoop::kMostParts;

std::uint64_t key_of(const Thread* self) {
  const LoopState& loop = self->member->loop;
  std::uint64_t key = reinterpret_cast<std::uintptr_t>(loop.site);
  for (const std::uint64_t value :
       {loop.base, loop.step, loop.unit, loop.units, static_cast<std::uint64_t>(self->team->size)})
    key = mixed(key, value);
  return key | 1;  // 0 stands in no use
}

// The part of `old` that held what is the middle of part `i` now; kNoPart: none did.
std::uint32_t earlier_part(const LoopState& loop, const RememberedLoop& old, std::uint32_t i) {
  const std::uint64_t unit = old.unit.load(std::memory_order_relaxed);
  const std::uint64_t units = old.units.load(std::memory_order_relaxed);
  if (unit == 0 || units == 0 || loop.step == 0) return kNoPart;
  const Block now = part(loop, i);
  const bool down = static_cast<std::int64_t>(loop.step) < 0;
  const std::uint64_t way = loop.base - old.base.load(std::memory_order_relaxed);
  // How many iterations the new loop's first one comes after the old one's; may be negative.
  const std::int64_t ahead = static_cast<std::int64_t>(down ? 0 - way : way) /
                             static_cast<std::int64_t>(down ? 0 - loop.step : loop.step);
  const std::uint64_t then = (static_cast<std::uint64_t>(ahead) + (now.first + now.end) / 2 * loop.unit) / unit;
  return then < units ? static_cast<std::uint32_t>(block_holding(then, units, parts_of(units))) : kNoPart;
}

// Homes for a loop that is not remembered, from one that went over the same values: the same loop with other
// bounds, or another one with the same bounds.
void inherit(const LoopMemory& memory, const LoopState& loop, std::uint8_t* homes) {
  const RememberedLoop* best = nullptr;
  std::uint64_t newest = 0;
  bool best_is_same = false;
  for (std::uint32_t i = 0; i < LoopMemory::kLoops; ++i) {
    const RememberedLoop& old = memory.loops[i];
    const std::uint64_t used = memory.used[i].load(std::memory_order_relaxed);
    if (used == 0 || old.step.load(std::memory_order_relaxed) != loop.step) continue;
    const bool same = old.site.load(std::memory_order_relaxed) == loop.site;
    if (!same && (old.base.load(std::memory_order_relaxed) != loop.base ||
                  old.units.load(std::memory_order_relaxed) * old.unit.load(std::memory_order_relaxed) !=
                      loop.units * loop.unit))
      continue;
    if (best != nullptr && (same != best_is_same ? best_is_same : used <= newest)) continue;
    best = &old;
    newest = used;
    best_is_same = same;
  }
  for (std::uint32_t i = 0; i < loop.parts; ++i) {
    const std::uint32_t earlier = best == nullptr ? kNoPart : earlier_part(loop, *best, i);
    homes[i] = earlier == kNoPart ? 0 : best->homes[earlier].load(std::memory_order_relaxed);
  }
}

std::uint32_t least_used(const LoopMemory& memory) {
  std::uint32_t least = 0;
  for (std::uint32_t i = 1; i < LoopMemory::kLoops; ++i)
    if (memory.used[i].load(std::memory_order_relaxed) < memory.used[least].load(std::memory_order_relaxed)) least = i;
  return least;
}

void remember_as(RememberedLoop& place, const LoopState& loop, const std::uint8_t* homes) {
  place.site.store(loop.site, std::memory_order_relaxed);
  place.base.store(loop.base, std::memory_order_relaxed);
  place.step.store(loop.step, std::memory_order_relaxed);
  place.unit.store(loop.unit, std::memory_order_relaxed);
  place.units.store(loop.units, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < loop.parts; ++i) place.homes[i].store(homes[i], std::memory_order_relaxed);
}

}  // namespace

bool choose_remembered(Thread* self) {
  LoopState& loop = self->member->loop;
  LoopMemory& memory = *self->team->workshares->memory;
  std::atomic<std::uint64_t>& chosen = memory.chosen[loop.instance % Team::kWorkShares];
  // Pairs with the releases below, of `chosen` and of `keys`: homes are read as the first member has filled
  // them in.
  std::uint64_t seen = chosen.load(std::memory_order_acquire);
  if (seen >> 8 < loop.instance) {
    const std::uint64_t key = key_of(self);
    std::uint32_t index = 0;
    while (index < LoopMemory::kLoops && memory.keys[index].load(std::memory_order_acquire) != key) ++index;
    if (index == LoopMemory::kLoops) {
      index = least_used(memory);
      std::uint8_t homes[kMostParts];
      inherit(memory, loop, homes);
      // Several members may do so at once, all alike.
      if (chosen.load(std::memory_order_relaxed) == seen) {
        remember_as(memory.loops[index], loop, homes);
        memory.keys[index].store(key, std::memory_order_release);  // pairs with the acquire in the search above
      }
    }
    count_shared_write();
    // Release pairs with the acquire load above, in the members that come later; they see the homes even if another
    // member has filled them in, whose key this one has acquired.
    if (chosen.compare_exchange_strong(seen, loop.instance << 8 | index, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      seen = loop.instance << 8 | index;
      memory.used[index].store(loop.instance, std::memory_order_relaxed);
    }
  }
  if (seen >> 8 != loop.instance) return false;
  HEARTH_ASSERT((seen & 0xff) < LoopMemory::kLoops, "instance %" PRIu64 " uses loop %u of %u", loop.instance,
                static_cast<unsigned>(seen & 0xff), LoopMemory::kLoops);
  loop.past = &memory.loops[seen & 0xff];
  return true;
}

LoopMemory* make_loop_memory(const Team* team) {
  if (team->locality == nullptr || machine_view().locations < 2) return nullptr;
  void* p = nullptr;
  if (posix_memalign(&p, alignof(LoopMemory), sizeof(LoopMemory)) != 0)
    fatal("out of memory: no room for a team's loop affinity");
  return new (p) LoopMemory;
}

void free_loop_memory(LoopMemory* memory) { std::free(memory); }

void restart_loop_memory(Team* team) {
  LoopMemory* memory = team->workshares->memory;
  if (memory == nullptr) return;
  for (std::int32_t i = 0; i < team->staffed; ++i) {
    const std::uint64_t instances = team->members[i]->loop.instances;
    if (instances > memory->first_instance) memory->first_instance = instances;
  }
}

}  // namespace hearth::rt
