// What is remembered of taskloops: where the tasks of each part ran last. Contract in loop_affinity.h.
#include "base/assert.h"
#include "runtime/locality/machine_view.h"
#include "runtime/locality/team_locality.h"
#include "runtime/loop/loop_affinity.h"
#include "runtime/loop/loop_parts.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {

Block RememberedTaskloop::part(std::uint64_t tasks, std::uint64_t number) {
  return static_block(tasks, number, parts_of(tasks));
}

std::uint64_t RememberedTaskloop::part_of(std::uint64_t tasks, std::uint64_t task) {
  return block_holding(task, tasks, parts_of(tasks));
}

Location RememberedTaskloop::belongs_to(const Team* team, std::uint64_t tasks, std::uint64_t part) const {
  const std::uint8_t home = homes[part].load(std::memory_order_relaxed);
  if (home != 0) return home - 1;
  const std::uint64_t tid = block_holding(part, parts_of(tasks), static_cast<std::uint64_t>(team->size));
  return team->members[tid]->location.load(std::memory_order_relaxed);
}

Location RememberedTaskloop::home_of(const Team* team, std::uint64_t tasks, std::uint64_t part) const {
  const Location where = belongs_to(team, tasks, part);
  const bool anybody = where >= 0 && team->locality->workers[where].load(std::memory_order_relaxed) != 0;
  return anybody ? where : placement::kUnknown;
}

void RememberedTaskloop::runs(const Team* team, std::uint64_t tasks, std::uint64_t part, Location here) {
  const Location home = belongs_to(team, tasks, part);
  if (here < 0 || home < 0) return;
  const std::uint8_t before = strays[part].load(std::memory_order_relaxed);
  const auto stray = static_cast<std::uint8_t>(home == here ? 0 : before + 1);
  if (home == here && before == 0 && homes[part].load(std::memory_order_relaxed) != 0) return;
  count_shared_write(2);
  if (home == here || stray == kMoves)
    homes[part].store(static_cast<std::uint8_t>(here + 1), std::memory_order_relaxed);
  strays[part].store(stray == kMoves ? 0 : stray, std::memory_order_relaxed);
}

RememberedTaskloop* remember_taskloop(Thread* self, const TaskloopName& name) {
  LoopMemory* memory = self->team->workshares->memory;
  if (memory == nullptr) return nullptr;
  std::uint64_t key = reinterpret_cast<std::uintptr_t>(name.body);
  for (const std::uint64_t value :
       {name.base, name.step, name.tasks, name.each, static_cast<std::uint64_t>(self->team->size)})
    key = mixed(key, value);
  key |= 1;
  RememberedTaskloop* found = nullptr;
  for (RememberedTaskloop& one : memory->taskloops) {
    if (one.key.load(std::memory_order_relaxed) == key) {
      found = &one;
      break;
    }
    if (found == nullptr || one.used.load(std::memory_order_relaxed) < found->used.load(std::memory_order_relaxed))
      found = &one;
  }
  count_shared_write(3);
  // Acquire and the release in ~TaskloopPast(): one user at a time, so that a loop is not forgotten by
  // halves.
  if (found->in_use.exchange(true, std::memory_order_acquire)) return nullptr;
  if (found->key.load(std::memory_order_relaxed) != key) {
    for (std::uint32_t i = 0; i < RememberedTaskloop::kMostParts; ++i) {
      found->homes[i].store(0, std::memory_order_relaxed);
      found->strays[i].store(0, std::memory_order_relaxed);
    }
    found->ticks.store(0, std::memory_order_relaxed);
    found->key.store(key, std::memory_order_relaxed);
  }
  found->used.store(memory->taskloops_met.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return found;
}

}  // namespace hearth::rt
