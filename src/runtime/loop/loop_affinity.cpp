// Loops that go back to where they ran last: a member's search for iterations, in its own range, among the parts that belong to its
// location, and elsewhere. On the path of each chunk. Contract in loop_affinity.h.
#include "base/assert.h"
#include "runtime/locality/machine_view.h"
#include "runtime/locality/team_locality.h"
#include "runtime/loop/loop_affinity.h"
#include "runtime/loop/loop_parts.h"
#include "runtime/loop/loop_ranges.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {
namespace {

using namespace ranges;

// The own range, empty, becomes one of this generation; or stays unused, if thieves of a later loop have it
// already.
void open_range(Thread* self) {
  LoopState& loop = self->member->loop;
  StealRange& mine = range_of(self->team, loop.number, self->tid);
  const std::uint32_t generation = generation_of(loop.number);
  const Location here = self->member->location.load(std::memory_order_relaxed);
  if (mine.location.load(std::memory_order_relaxed) != here) mine.location.store(here, std::memory_order_relaxed);
  std::uint64_t seen = mine.word.load(std::memory_order_relaxed);
  do {
    if (Range::of(seen).ahead_of(generation) > 0) return;
    count_shared_write();
  } while (!mine.word.compare_exchange_weak(seen, Range{generation, 0, 0}.word(), std::memory_order_relaxed));
  loop.alone = false;
}

// --- looking for work, by a member that has none

// What a member sees while it looks for a part or a range.
struct PartSearch {
  Thread* self;
  LoopState& loop;
  RememberedLoop& past;
  TeamLocality& around;
  Location here;
  std::uint32_t start;  // the first part of the own static block

  explicit PartSearch(Thread* thread)
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
  bool is_free(std::uint32_t i) const { return past.claims[i].load(std::memory_order_relaxed) >> 8 < loop.instance; }

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

bool PartSearch::claim(std::uint32_t i) {
  HEARTH_ASSERT(i < loop.parts && loop.parts <= RememberedLoop::kMostParts, "part %u of %u", i, loop.parts);
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
  } while (!word.compare_exchange_weak(seen, loop.instance << 8 | (moves ? 0 : strays), std::memory_order_relaxed));
  if (HEARTH_UNLIKELY(moves)) {
    count_shared_write();
    past.homes[i].store(static_cast<std::uint8_t>(here + 1), std::memory_order_relaxed);
  }
  return true;
}

// In units: half of a thread's share of what is not assigned yet, of the parts that belong to `where`; the
// size of guided's chunks as far as one location can tell it. `more` units are at hand; `passed` parts, from
// the start on, need no look.
std::uint64_t PartSearch::guided_chunk(std::uint64_t more, std::uint32_t passed, Location where) const {
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
void PartSearch::keep(std::uint64_t begin, std::uint64_t end, std::uint64_t amount) {
  if (loop.alone || amount > end - begin) amount = end - begin;
  put_in_reserve(loop, begin, begin + amount);
  if (loop.alone || begin + amount == end) return;
  // Ours is empty, so nobody else writes it.
  HEARTH_ASSERT_INVARIANT(own_range().generation == generation_of(loop.number) && own_range().begin >= own_range().end,
                          "the own range is [%u, %u) of generation %u, the loop's is %u", own_range().begin,
                          own_range().end, own_range().generation, generation_of(loop.number));
  count_shared_write();
  range_of(self->team, loop.number, self->tid)
      .word.store(
          Range{generation_of(loop.number), static_cast<std::uint32_t>(begin + amount), static_cast<std::uint32_t>(end)}
              .word(),
          std::memory_order_relaxed);
}

// The part, which belongs to `where`; of a guided loop so many of those that follow as make up a chunk.
bool PartSearch::take_parts(std::uint32_t i, Location where) {
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
  while (all.end - all.first < chunk && ++i < loop.parts && (where == here ? belongs_here(i) : home_of(i) == where) &&
         claim(i))
    all.end = part(loop, i).end;
  keep(all.first, all.end, chunk);
  return true;
}

bool PartSearch::take_from_own_range() {
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
bool PartSearch::take_here() {
  for (; loop.looked < loop.parts; ++loop.looked) {
    const std::uint32_t i = nth(loop.looked);
    if (belongs_here(i) && take_parts(i, here)) return true;
  }
  return false;
}

// Half of what the victim has left.
bool PartSearch::steal(std::int32_t victim) {
  const std::uint32_t generation = generation_of(loop.number);
  std::atomic<std::uint64_t>& theirs = range_of(self->team, loop.number, victim).word;
  std::uint64_t seen = theirs.load(std::memory_order_relaxed);
  for (;;) {
    const Range range = Range::of(seen);
    if (range.generation != generation || range.begin >= range.end) return false;
    const std::uint32_t middle = range.begin + (range.end - range.begin) / 2;
    count_shared_write();
    if (!theirs.compare_exchange_weak(seen, Range{generation, range.begin, middle}.word(), std::memory_order_relaxed))
      continue;
    const std::uint32_t taken = range.end - middle;
    keep(middle, range.end, loop.shrinking ? ceil_div(taken, 2) : reserve_of(loop, taken, 1));
    return true;
  }
}

// Whether to leave what is at `where` to those who are there for some time yet.
bool PartSearch::waits_for(Location where) {
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
bool PartSearch::take_elsewhere() {
  constexpr std::uint32_t kMostPauses = 64;
  Team* team = self->team;
  const std::uint32_t generation = generation_of(loop.number);
  std::uint32_t pauses = 1;
  while (!nothing_left(team, loop.number)) {
    std::uint32_t least = UINT32_MAX, best_part = kNoPart;
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

bool begin_remembered(Thread* self, const LoopPlan& plan, std::uint64_t smallest) {
  LoopState& loop = self->member->loop;
  if (self->team->workshares->memory == nullptr || plan.monotonic || !loop.eager || plan.site == nullptr) return false;
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
    if (loop.parts == 0 || !choose_remembered(self)) return false;
    open_range(self);
  }
  PartSearch search(self);
  return search.take_from_own_range() || search.take_here() || search.take_elsewhere();
}

}  // namespace hearth::rt
