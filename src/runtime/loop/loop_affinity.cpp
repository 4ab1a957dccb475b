#include "runtime/loop/loop_affinity.h"

#include <cinttypes>
#include <cstdlib>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/locality/team_locality.h"
#include "runtime/locality/machine_view.h"
#include "runtime/loop/loop_ranges.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {
namespace {

using namespace ranges;

constexpr std::uint32_t kMostParts = RememberedLoop::kMostParts;
constexpr std::uint32_t kNobody = UINT32_MAX;

// --- parts

Block part(const LoopState& loop, std::uint32_t i) { return static_block(loop.units, i, loop.parts); }

// Which of `parts` blocks of `units` holds the unit: static_block() the other way round.
std::uint64_t block_holding(std::uint64_t unit, std::uint64_t units, std::uint64_t parts) {
  const std::uint64_t small = units / parts, larger = units % parts;
  const std::uint64_t in_larger = larger * (small + 1);
  return unit < in_larger ? unit / (small + 1) : larger + (unit - in_larger) / small;
}

std::uint32_t parts_of(std::uint64_t units) {
  return units < kMostParts ? static_cast<std::uint32_t>(units) : kMostParts;
}

// --- the memory of a loop: which one

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

std::uint64_t key_of(const Thread* self) {
  const LoopState& loop = self->member->loop;
  std::uint64_t key = reinterpret_cast<std::uintptr_t>(loop.site);
  for (const std::uint64_t value :
       {loop.base, loop.step, loop.unit, loop.units, static_cast<std::uint64_t>(self->team->size)})
    key = mixed(key, value);
  return key | 1;  // 0 stands in no use
}

// The part of `old` that held what is the middle of part `i` now; kNobody: none did.
std::uint32_t earlier_part(const LoopState& loop, const RememberedLoop& old, std::uint32_t i) {
  const std::uint64_t unit = old.unit.load(std::memory_order_relaxed);
  const std::uint64_t units = old.units.load(std::memory_order_relaxed);
  if (unit == 0 || units == 0 || loop.step == 0) return kNobody;
  const Block now = part(loop, i);
  const bool down = static_cast<std::int64_t>(loop.step) < 0;
  const std::uint64_t way = loop.base - old.base.load(std::memory_order_relaxed);
  // How many iterations the new loop's first one comes after the old one's; may be negative.
  const std::int64_t ahead = static_cast<std::int64_t>(down ? 0 - way : way) /
                             static_cast<std::int64_t>(down ? 0 - loop.step : loop.step);
  const std::uint64_t then =
      (static_cast<std::uint64_t>(ahead) + (now.first + now.end) / 2 * loop.unit) / unit;
  return then < units ? static_cast<std::uint32_t>(block_holding(then, units, parts_of(units))) : kNobody;
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
    const std::uint32_t earlier = best == nullptr ? kNobody : earlier_part(loop, *best, i);
    homes[i] = earlier == kNobody ? 0 : best->homes[earlier].load(std::memory_order_relaxed);
  }
}

std::uint32_t least_used(const LoopMemory& memory) {
  std::uint32_t least = 0;
  for (std::uint32_t i = 1; i < LoopMemory::kLoops; ++i)
    if (memory.used[i].load(std::memory_order_relaxed) < memory.used[least].load(std::memory_order_relaxed))
      least = i;
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

// Agrees with the other members on the words of this instance. False: they are at a later one already.
bool choose(Thread* self) {
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

// The own range, empty, becomes one of this generation; or stays unused, if thieves of a later loop have it
// already.
void open_range(Thread* self) {
  LoopState& loop = self->member->loop;
  StealRange& mine = range_of(self->team, loop.number, self->tid);
  const std::uint32_t generation = generation_of(loop.number);
  const Location here = self->member->location.load(std::memory_order_relaxed);
  if (mine.location.load(std::memory_order_relaxed) != here)
    mine.location.store(here, std::memory_order_relaxed);
  std::uint64_t seen = mine.word.load(std::memory_order_relaxed);
  do {
    if (Range::of(seen).ahead_of(generation) > 0) return;
    count_shared_write();
  } while (!mine.word.compare_exchange_weak(seen, Range{generation, 0, 0}.word(), std::memory_order_relaxed));
  loop.alone = false;
}

// --- looking for work, by a member that has none

// What a member sees while it looks.
struct Search {
  Thread* self;
  LoopState& loop;
  RememberedLoop& past;
  TeamLocality& around;
  Location here;
  std::uint32_t start;  // the first part of the own static block

  explicit Search(Thread* thread)
      : self(thread),
        loop(thread->member->loop),
        past(*loop.past),
        around(*thread->team->locality),
        here(thread->member->location.load(std::memory_order_relaxed)),
        start(static_cast<std::uint32_t>(own_block().first)) {}

  Block own_block() const {
    return static_block(loop.parts, static_cast<std::uint64_t>(self->tid),
                        static_cast<std::uint64_t>(self->team->size));
  }
  std::uint32_t nth(std::uint32_t n) const {
    const std::uint32_t i = start + n;
    return i < loop.parts ? i : i - loop.parts;
  }
  Range own_range() const {
    return Range::of(range_of(self->team, loop.number, self->tid).word.load(std::memory_order_relaxed));
  }
  bool is_free(std::uint32_t i) const {
    return past.claims[i].load(std::memory_order_relaxed) >> 8 < loop.instance;
  }

  Location home_of(std::uint32_t i) const {
    const std::uint8_t home = past.homes[i].load(std::memory_order_relaxed);
    if (home != 0) return home - 1;
    const std::uint64_t tid = block_holding(i, loop.parts, static_cast<std::uint64_t>(self->team->size));
    return self->team->members[tid]->location.load(std::memory_order_relaxed);
  }
  bool belongs_here(std::uint32_t i) const {
    const std::uint8_t home = past.homes[i].load(std::memory_order_relaxed);
    if (home != 0) return home - 1 == here;
    const Block block = own_block();
    return i >= block.first && i < block.end;
  }
  std::uint32_t distance_to(Location where) const {
    return here < 0 || where < 0 ? 0 : machine_view().hops_between(here, where);
  }
  std::uint32_t members_at(Location where) const {
    return where < 0 ? 1 : around.workers[where].load(std::memory_order_relaxed);
  }

  bool claim(std::uint32_t i);
  std::uint64_t guided_chunk(std::uint64_t more, std::uint32_t passed, Location where) const;
  void keep(std::uint64_t begin, std::uint64_t end, std::uint64_t amount);
  bool take_parts(std::uint32_t i, Location where);
  bool take_from_own_range();
  bool take_here();
  bool steal(std::int32_t victim);
  bool waits_for(Location where);
  bool take_elsewhere();
};

bool Search::claim(std::uint32_t i) {
  HEARTH_ASSERT(i < loop.parts && loop.parts <= kMostParts, "part %u of %u", i, loop.parts);
  std::atomic<std::uint64_t>& word = past.claims[i];
  const std::uint8_t home = past.homes[i].load(std::memory_order_relaxed);
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  bool moves = false;
  std::uint64_t strays = 0;
  do {
    if (seen >> 8 >= loop.instance) return false;
    strays = here < 0 || home == 0 || home - 1 == here ? 0 : (seen & 0xff) + 1;
    moves = here >= 0 && (home == 0 || strays == kMoves);
    count_shared_write();
  } while (!word.compare_exchange_weak(seen, loop.instance << 8 | (moves ? 0 : strays),
                                       std::memory_order_relaxed));
  if (HEARTH_UNLIKELY(moves)) {
    count_shared_write();
    past.homes[i].store(static_cast<std::uint8_t>(here + 1), std::memory_order_relaxed);
  }
  return true;
}

// In units: half of a thread's share of what is not assigned yet, of the parts that belong to `where`; the
// size of guided's chunks as far as one location can tell it. `more` units are at hand; `passed` parts, from
// the start on, need no look.
std::uint64_t Search::guided_chunk(std::uint64_t more, std::uint32_t passed, Location where) const {
  std::uint64_t left = more;
  for (std::uint32_t n = passed; n < loop.parts; ++n) {
    const std::uint32_t i = nth(n);
    if ((where == here ? belongs_here(i) : home_of(i) == where) && is_free(i)) {
      const Block block = part(loop, i);
      left += block.end - block.first;
    }
  }
  const std::uint64_t members = members_at(where) + (where != here);
  return ceil_div(left, 2 * (members == 0 ? 1 : members));
}

// Of units that are the member's own: `amount` into the reserve, the rest where others can steal it.
void Search::keep(std::uint64_t begin, std::uint64_t end, std::uint64_t amount) {
  if (loop.alone || amount > end - begin) amount = end - begin;
  put_in_reserve(loop, begin, begin + amount);
  if (loop.alone || begin + amount == end) return;
  // Ours is empty, so nobody else writes it.
  HEARTH_ASSERT_INVARIANT(own_range().generation == generation_of(loop.number) && own_range().begin >= own_range().end,
                          "the own range is [%u, %u) of generation %u, the loop's is %u", own_range().begin,
                          own_range().end, own_range().generation, generation_of(loop.number));
  count_shared_write();
  range_of(self->team, loop.number, self->tid)
      .word.store(Range{generation_of(loop.number), static_cast<std::uint32_t>(begin + amount),
                        static_cast<std::uint32_t>(end)}
                      .word(),
                  std::memory_order_relaxed);
}

// The part, which belongs to `where`; of a guided loop so many of those that follow as make up a chunk.
bool Search::take_parts(std::uint32_t i, Location where) {
  if (!claim(i)) return false;
  Block all = part(loop, i);
  if (!loop.shrinking) {
    // At least a small part of a member's share may be reserved, however small the parts are.
    const std::uint64_t share = loop.units / (8 * static_cast<std::uint64_t>(self->team->size));
    const std::uint64_t length = all.end - all.first;
    keep(all.first, all.end, reserve_of(loop, length > share ? length : share, 1));
    return true;
  }
  const std::uint64_t chunk = guided_chunk(all.end - all.first, where == here ? loop.looked : 0, where);
  while (all.end - all.first < chunk && ++i < loop.parts &&
         (where == here ? belongs_here(i) : home_of(i) == where) && claim(i))
    all.end = part(loop, i).end;
  keep(all.first, all.end, chunk);
  return true;
}

bool Search::take_from_own_range() {
  if (loop.alone) return false;
  std::atomic<std::uint64_t>& mine = range_of(self->team, loop.number, self->tid).word;
  std::uint64_t seen = mine.load(std::memory_order_relaxed);
  std::uint64_t amount = 0;
  for (;;) {
    const Range range = Range::of(seen);
    if (range.begin >= range.end) return false;
    const std::uint32_t left = range.end - range.begin;
    if (amount == 0) {
      const std::uint64_t share = loop.units / (8 * static_cast<std::uint64_t>(self->team->size));
      amount = loop.shrinking ? guided_chunk(left, loop.looked, here)
                              : reserve_of(loop, left > share ? left : share, 1);
    }
    const std::uint32_t now = amount < left ? static_cast<std::uint32_t>(amount) : left;
    count_shared_write();
    if (mine.compare_exchange_weak(seen, Range{range.generation, range.begin + now, range.end}.word(),
                                   std::memory_order_relaxed)) {
      put_in_reserve(loop, range.begin, range.begin + now);
      return true;
    }
    amount = 0;
  }
}

// Parts that belong here. What was passed over is taken, or belongs elsewhere; should it come here in
// mid-loop, the search for work elsewhere finds it.
bool Search::take_here() {
  for (; loop.looked < loop.parts; ++loop.looked) {
    const std::uint32_t i = nth(loop.looked);
    if (belongs_here(i) && take_parts(i, here)) return true;
  }
  return false;
}

// Half of what the victim has left.
bool Search::steal(std::int32_t victim) {
  const std::uint32_t generation = generation_of(loop.number);
  std::atomic<std::uint64_t>& theirs = range_of(self->team, loop.number, victim).word;
  std::uint64_t seen = theirs.load(std::memory_order_relaxed);
  for (;;) {
    const Range range = Range::of(seen);
    if (range.generation != generation || range.begin >= range.end) return false;
    const std::uint32_t middle = range.begin + (range.end - range.begin) / 2;
    count_shared_write();
    if (!theirs.compare_exchange_weak(seen, Range{generation, range.begin, middle}.word(),
                                      std::memory_order_relaxed))
      continue;
    const std::uint32_t taken = range.end - middle;
    keep(middle, range.end, loop.shrinking ? ceil_div(taken, 2) : reserve_of(loop, taken, 1));
    return true;
  }
}

// Whether to leave what is at `where` to those who are there for some time yet.
bool Search::waits_for(Location where) {
  if (loop.roams || members_at(where) == 0) return false;
  const std::uint64_t now = ticks();
  if (loop.vain_looks++ == 0) loop.waits_since = now;
  const std::uint64_t part = to_ns(loop.waits_since - loop.began) / tuning::kLoopWaitPart;
  const std::uint64_t longest = part < tuning::kLongestLoopWaitNs ? part : tuning::kLongestLoopWaitNs;
  if (loop.vain_looks <= tuning::kLoopLooks || to_ns(now - loop.waits_since) < longest) return true;
  loop.roams = true;
  return false;
}

// What is nearest: a part that nobody has begun, or else a member that has something left.
bool Search::take_elsewhere() {
  constexpr std::uint32_t kMostPauses = 64;
  Team* team = self->team;
  const std::uint32_t generation = generation_of(loop.number);
  std::uint32_t pauses = 1;
  while (!nothing_left(team, loop.number)) {
    std::uint32_t least = UINT32_MAX, best_part = kNobody;
    Location where = placement::kUnknown;
    for (std::uint32_t n = 0; n < loop.parts && least != 0; ++n) {
      const std::uint32_t i = nth(n);
      if (!is_free(i)) continue;
      const Location home = home_of(i);
      if (const std::uint32_t distance = distance_to(home); distance < least) {
        least = distance;
        best_part = i;
        where = home;
      }
    }
    std::int32_t victim = -1;
    for (std::int32_t n = 1, tid = self->tid; n < team->size && least != 0; ++n) {
      if (++tid == team->size) tid = 0;
      const StealRange& theirs = range_of(team, loop.number, tid);
      const Range range = Range::of(theirs.word.load(std::memory_order_relaxed));
      if (range.generation != generation || range.begin >= range.end) continue;
      const Location at = theirs.location.load(std::memory_order_relaxed);
      if (const std::uint32_t distance = distance_to(at); distance < least) {
        least = distance;
        victim = tid;
        where = at;
      }
    }
    if (least == UINT32_MAX) return false;
    if (least != 0 && waits_for(where)) {
      for (std::uint32_t i = 0; i < pauses; ++i) cpu_relax();
      if (pauses < kMostPauses) pauses *= 2;
    } else if (victim >= 0 ? steal(victim) : take_parts(best_part, where)) {
      return true;
    }
  }
  return false;
}

}  // namespace

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
    if (found == nullptr ||
        one.used.load(std::memory_order_relaxed) < found->used.load(std::memory_order_relaxed))
      found = &one;
  }
  count_shared_write(3);
  // Acquire and the release in ~TaskloopPast(): one user at a time, so that a loop is not forgotten by
  // halves.
  if (found->in_use.exchange(true, std::memory_order_acquire)) return nullptr;
  if (found->key.load(std::memory_order_relaxed) != key) {
    for (std::uint32_t i = 0; i < kMostParts; ++i) {
      found->homes[i].store(0, std::memory_order_relaxed);
      found->strays[i].store(0, std::memory_order_relaxed);
    }
    found->ticks.store(0, std::memory_order_relaxed);
    found->key.store(key, std::memory_order_relaxed);
  }
  found->used.store(memory->taskloops_met.fetch_add(1, std::memory_order_relaxed) + 1,
                    std::memory_order_relaxed);
  return found;
}

LoopMemory* make_loop_memory(const Team* team) {
  if (team->locality == nullptr || machine_view().locations < 2) return nullptr;
  void* p = nullptr;
  if (posix_memalign(&p, alignof(LoopMemory), sizeof(LoopMemory)) != 0)
    fatal("out of memory: no room for what loops remember");
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

bool begin_remembered(Thread* self, const LoopPlan& plan, std::uint64_t smallest) {
  LoopState& loop = self->member->loop;
  if (self->team->workshares->memory == nullptr || plan.monotonic || !loop.eager || plan.site == nullptr)
    return false;
  loop.kind = LoopKind::remembered;
  loop.site = plan.site;
  loop.shrinking = plan.kind == ScheduleKind::guided;
  loop.chunk = loop.shrinking ? 0 : smallest;
  if (loop.trip != 0) loop.dealt = (loop.trip - 1) / smallest * smallest;
  count_units(loop, smallest, kMaxRangeUnits);
  loop.parts = parts_of(loop.units);
  loop.number = ++loop.stealing;
  loop.instance = ++loop.instances;
  loop.past = nullptr;
  loop.alone = true;  // until there is a range
  loop.looked = 0;
  loop.roams = false;
  loop.vain_looks = 0;
  loop.began = ticks();
  return true;
}

bool take_remembered(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.past == nullptr) {
    if (loop.parts == 0 || !choose(self)) return false;
    open_range(self);
  }
  Search search(self);
  return search.take_from_own_range() || search.take_here() || search.take_elsewhere();
}

}  // namespace hearth::rt
