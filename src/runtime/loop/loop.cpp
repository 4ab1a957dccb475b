// Protocols of the loops that share state.
//
// Counter (monotonic dynamic, guided, ordered, sections): {number of the construct, next unit}. A member
// finds its own number and takes units with a compare-and-swap; an older number, and it starts the construct
// at unit 0; a newer one, and the construct has nothing left, since nobody goes on before that.
//
// Ranges (nonmonotonic dynamic): {generation, first unit, end unit} per member and construct, the whole state
// in one word, so that equal words mean equal states and a compare-and-swap cannot be fooled. The owner takes
// units from the front, thieves half from the back. A member's block is computed, not set up: the first to
// touch the range, owner or thief, installs the block. A range of an older generation may be installed once
// its owner has left that construct, which it says by kLeft; thieves step over one whose owner is still
// inside (kWorkShares constructs behind), and its owner will run the block itself. An owner that finds a
// newer generation was overtaken before anybody touched its block, and runs the block alone. No order is
// needed: the words say everything, and nothing is published through them.
//
// The last chunk stands in no range: both compilers take a lastprivate variable from the thread that ran it,
// as that thread left it, so it must be that thread's last. Whoever first finds nothing left claims it, in
// `exhausted`, which tells the others too.
//
// An owner, and whoever takes from the counter, reserves several chunks at once while chunks turn out to be
// short: from one chunk up, twice as many each time the last reserve was used up in kShortReserveNs, and at most
// an eighth of a member's part of what remains. A reserve cannot be stolen, so chunks that take long are
// taken one by one.
#include "runtime/loop/loop.h"

#include <cinttypes>

#include "base/assert.h"
#include "runtime/loop/loop_affinity.h"
#include "runtime/loop/loop_ranges.h"
#include "runtime/loop/ordered.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {
namespace {

using namespace ranges;

bool take_from_counter(Thread* self) {
  LoopState& loop = self->member->loop;
  Team* team = self->team;
  std::atomic<std::uint64_t>& counter = team->workshares->counter;
  const auto members = static_cast<std::uint64_t>(team->size);
  std::uint64_t seen = counter.load(std::memory_order_relaxed);
  std::uint64_t taken = 0;
  for (;;) {
    std::uint64_t at = static_cast<std::uint32_t>(seen);
    const auto ahead = static_cast<std::int32_t>(static_cast<std::uint32_t>(seen >> 32) - loop.number);
    if (ahead < 0) at = 0;
    if (ahead > 0 || at >= loop.units) return false;
    const std::uint64_t remaining = loop.units - at;
    if (loop.kind == LoopKind::guided) {
      taken = ceil_div(remaining, members);
      if (taken < loop.minimum) taken = loop.minimum;
      if (loop.whole_chunks) taken = ceil_div(taken, loop.minimum) * loop.minimum;
      if (taken > remaining) taken = remaining;
    } else if (taken == 0) {
      taken = reserve_of(loop, remaining, members);
    } else if (taken > remaining) {
      taken = remaining;
    }
    count_shared_write();
    if (counter.compare_exchange_weak(seen, std::uint64_t{loop.number} << 32 | (at + taken),
                                      std::memory_order_relaxed)) {
      put_in_reserve(loop, at, at + taken);
      return true;
    }
    cpu_relax();
  }
}

Block block_of(const LoopState& loop, std::int32_t tid, std::int32_t members) {
  return static_block(loop.units, static_cast<std::uint64_t>(tid), static_cast<std::uint64_t>(members));
}

bool take_from_own_range(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.alone) return false;
  Team* team = self->team;
  const std::uint32_t generation = generation_of(loop.number);
  std::atomic<std::uint64_t>& mine = range_of(team, loop.number, self->tid).word;
  std::uint64_t seen = mine.load(std::memory_order_relaxed);
  std::uint32_t taken = 0;
  for (;;) {
    Range range = Range::of(seen);
    const std::int32_t ahead = range.ahead_of(generation);
    if (ahead == 0) {
      if (range.begin >= range.end) return false;
    } else {
      const Block block = block_of(loop, self->tid, team->size);
      if (HEARTH_UNLIKELY(ahead > 0)) {
        loop.alone = true;
        put_in_reserve(loop, block.first, block.end);
        return block.first != block.end;
      }
      range = {generation, static_cast<std::uint32_t>(block.first), static_cast<std::uint32_t>(block.end)};
    }
    HEARTH_ASSERT(range.begin <= range.end && range.end <= loop.units, "the own range is [%u, %u) of %" PRIu64 " units",
                  range.begin, range.end, loop.units);
    const std::uint32_t left = range.end - range.begin;
    if (taken == 0) taken = reserve_of(loop, left, 1);
    const std::uint32_t now = taken < left ? taken : left;
    const Range rest{generation, range.begin + now, range.end};
    count_shared_write();
    if (mine.compare_exchange_weak(seen, rest.word(), std::memory_order_relaxed)) {
      if (now == 0) return false;  // more members than units: an empty block is installed, and left empty
      put_in_reserve(loop, range.begin, range.begin + now);
      return true;
    }
    taken = 0;
  }
}

[[maybe_unused]] std::uint64_t own_word(Thread* self) {
  return range_of(self->team, self->member->loop.number, self->tid).word.load(std::memory_order_relaxed);
}
[[maybe_unused]] bool is_open_and_empty(Thread* self) {
  const Range range = Range::of(own_word(self));
  return range.generation == generation_of(self->member->loop.number) && range.begin >= range.end;
}

// Half of what a victim has left; the part that is not reserved at once becomes the thief's own range.
bool steal_units(Thread* self) {
  LoopState& loop = self->member->loop;
  Team* team = self->team;
  const std::int32_t members = team->size;
  const std::uint32_t generation = generation_of(loop.number);
  if (nothing_left(team, loop.number)) return false;
  for (std::int32_t i = 1, victim = self->tid; i < members; ++i) {
    if (++victim == members) victim = 0;
    std::atomic<std::uint64_t>& theirs = range_of(team, loop.number, victim).word;
    std::uint64_t seen = theirs.load(std::memory_order_relaxed);
    for (;;) {
      Range range = Range::of(seen);
      const std::int32_t ahead = range.ahead_of(generation);
      if (ahead < 0) {
        if (!range.left()) break;
        const Block block = block_of(loop, victim, members);
        range = {generation, static_cast<std::uint32_t>(block.first), static_cast<std::uint32_t>(block.end)};
      } else if (ahead > 0) {
        break;
      }
      if (range.begin >= range.end) break;
      HEARTH_ASSERT(range.end <= loop.units, "the range of member %d is [%u, %u) of %" PRIu64 " units", victim,
                    range.begin, range.end, loop.units);
      const std::uint32_t middle = range.begin + (range.end - range.begin) / 2;
      count_shared_write();
      if (theirs.compare_exchange_weak(seen, Range{generation, range.begin, middle}.word(),
                                       std::memory_order_relaxed)) {
        if (HEARTH_UNLIKELY(loop.alone)) {
          put_in_reserve(loop, middle, range.end);
          return true;
        }
        const std::uint32_t taken = reserve_of(loop, range.end - middle, 1);
        put_in_reserve(loop, middle, middle + taken);
        // Ours is empty, so nobody else writes it.
        HEARTH_ASSERT_INVARIANT(is_open_and_empty(self), "the own range is %#" PRIx64 ", generation %u", own_word(self),
                                generation);
        count_shared_write();
        range_of(team, loop.number, self->tid)
            .word.store(Range{generation, middle + taken, range.end}.word(), std::memory_order_relaxed);
        return true;
      }
    }
  }
  return false;
}

// The last chunk, for whoever finds first that nothing else is left.
bool claim_last_chunk(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.dealt == loop.trip) return false;  // an empty loop
  std::atomic<std::uint32_t>& exhausted = self->team->workshares->exhausted[loop.number % kSlots];
  std::uint32_t seen = exhausted.load(std::memory_order_relaxed);
  if (static_cast<std::int32_t>(seen - loop.number) >= 0) return false;
  count_shared_write();
  if (!exhausted.compare_exchange_strong(seen, loop.number, std::memory_order_relaxed)) return false;
  loop.next = loop.dealt;
  loop.end = loop.trip;
  return true;
}

void leave_range(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.alone) return;
  count_shared_write();
  range_of(self->team, loop.number, self->tid)
      .word.store(Range::left_in(generation_of(loop.number)).word(), std::memory_order_relaxed);
}

// The next chunk of a static schedule with chunks; `next` is where the last one ended.
bool next_round(LoopState& loop) {
  // units counts the chunks that are left of a round on: chunk `minimum` is ours next, and every units-th
  // after it.
  if (loop.minimum >= ceil_div(loop.trip, loop.chunk)) return false;
  loop.next = loop.minimum * loop.chunk;
  loop.end = loop.trip - loop.next > loop.chunk ? loop.next + loop.chunk : loop.trip;
  loop.minimum += loop.units;
  return true;
}

void forget(LoopState& loop) {
  loop.next = loop.end = 0;
  loop.kind = LoopKind::none;
}

}  // namespace

LoopPlan runtime_plan(const Thread* self) {
  const Icvs& icvs = *self->task->icvs;
  LoopPlan plan;
  plan.monotonic = icvs.run_sched_kind < 0;
  switch (icvs.run_sched_kind & INT32_MAX) {
    case 2: plan.kind = ScheduleKind::dynamic; break;
    case 3:
    case 101: plan.kind = ScheduleKind::guided; break;  // libomp's trapezoid shrinks too
    case 4: plan.kind = ScheduleKind::automatic; break;
    default: plan.kind = ScheduleKind::static_; break;
  }
  if (icvs.run_sched_chunk > 0 && plan.kind != ScheduleKind::automatic)
    plan.chunk = static_cast<std::uint64_t>(icvs.run_sched_chunk);
  return plan;
}

void begin_loop(Thread* self, std::uint64_t trip, const LoopPlan& plan) {
  LoopState& loop = self->member->loop;
  Team* team = self->team;
  const auto members = static_cast<std::uint64_t>(team->size);
  // A cancelled loop that was left without a word.
  if (HEARTH_UNLIKELY(loop.kind != LoopKind::none || loop.share != nullptr)) end_loop(self);
  HEARTH_ASSERT(self == self->member->thread && self->tid < team->size, "member %d of %d is in the hands of thread %d",
                self->tid, int{team->size}, self->gtid);
  loop.trip = loop.dealt = trip;
  loop.next = loop.end = 0;
  loop.ordered = plan.ordered;
  loop.ordered_passed = true;
  const std::uint64_t chunk = plan.chunk > trip ? (trip == 0 ? 1 : trip) : plan.chunk;
  const bool is_static = plan.kind == ScheduleKind::static_ || plan.kind == ScheduleKind::automatic;
  if (members == 1) {
    loop.kind = LoopKind::blocks;
    loop.end = trip;
    loop.chunk = is_static || plan.kind == ScheduleKind::guided ? 0 : chunk == 0 ? 1 : chunk;
    return;
  }
  if (is_static) {
    if (chunk == 0 || plan.kind == ScheduleKind::automatic) {
      const Block block = own_block(self, trip);
      loop.kind = LoopKind::blocks;
      loop.chunk = 0;
      loop.next = block.first;
      loop.end = block.end;
    } else {
      loop.kind = LoopKind::rounds;
      loop.chunk = chunk;
      if (plan.whole_chunks) {  // one block a member, of whole chunks
        loop.chunk = ceil_div(ceil_div(trip, members), chunk) * chunk;
        if (loop.chunk == 0) loop.chunk = 1;
      }
      loop.minimum = static_cast<std::uint64_t>(self->tid);
      loop.units = members;
    }
  } else {
    const std::uint64_t smallest = chunk == 0 ? 1 : chunk;
    loop.reserve = 1;
    loop.eager = !plan.ordered && !plan.doacross;
    loop.reserved_at = 0;
    if (HEARTH_UNLIKELY(team->locality != nullptr) && begin_remembered(self, plan, smallest)) {
      // begin_remembered() has set everything up (loop_affinity.h)
    } else if (plan.kind == ScheduleKind::guided) {
      loop.kind = LoopKind::guided;
      loop.chunk = 0;
      loop.whole_chunks = plan.whole_chunks;
      count_units(loop, 1, UINT32_MAX);
      loop.minimum = ceil_div(smallest, loop.unit);
    } else {
      loop.kind = plan.monotonic || !loop.eager ? LoopKind::counter : LoopKind::stealing;
      loop.chunk = smallest;
      if (loop.kind == LoopKind::stealing && trip != 0) loop.dealt = (trip - 1) / smallest * smallest;
      count_units(loop, smallest, loop.kind == LoopKind::counter ? UINT32_MAX : kMaxRangeUnits);
    }
    if (loop.kind == LoopKind::stealing) {
      loop.number = ++loop.stealing;
      loop.alone = false;
    } else if (HEARTH_LIKELY(loop.kind != LoopKind::remembered)) {
      loop.number = ++loop.counted;
    }
  }
  if (HEARTH_UNLIKELY(plan.ordered) && loop.share == nullptr) loop.share = enter_share(self);
}

void begin_sections(Thread* self, std::uint64_t count) {
  LoopState& loop = self->member->loop;
  if (HEARTH_UNLIKELY(loop.kind != LoopKind::none || loop.share != nullptr)) end_loop(self);
  loop.trip = loop.dealt = loop.units = count;
  loop.unit = loop.chunk = 1;
  loop.next = loop.end = 0;
  loop.ordered = false;
  loop.eager = false;
  if (self->team->size == 1) {
    loop.kind = LoopKind::blocks;
    loop.end = count;
  } else {
    loop.kind = LoopKind::counter;
    loop.number = ++loop.counted;
  }
}

bool refill(Thread* self) {
  LoopState& loop = self->member->loop;
  switch (loop.kind) {
    case LoopKind::none:
    case LoopKind::blocks: break;
    case LoopKind::rounds:
      if (next_round(loop)) return true;
      break;
    case LoopKind::counter:
    case LoopKind::guided:
      if (take_from_counter(self)) return true;
      break;
    case LoopKind::stealing:
      if (take_from_own_range(self) || steal_units(self)) return true;
      leave_range(self);
      if (!claim_last_chunk(self)) break;
      loop.kind = LoopKind::none;
      return true;
    case LoopKind::remembered:
      if (take_remembered(self)) return true;
      leave_range(self);
      if (!claim_last_chunk(self)) break;
      loop.kind = LoopKind::none;
      return true;
  }
  forget(loop);
  return false;
}

bool next_ordered_chunk(Thread* self, std::uint64_t& first, std::uint64_t& count) {
  LoopState& loop = self->member->loop;
  pass_ordered_turn(self);
  if (!next_chunk(self, first, count)) return false;
  loop.ordered_first = first;
  loop.ordered_end = first + count;
  loop.ordered_done = 0;
  loop.ordered_passed = false;
  return true;
}

void end_loop(Thread* self) {
  LoopState& loop = self->member->loop;
  if (HEARTH_UNLIKELY(loop.kind >= LoopKind::stealing)) leave_range(self);
  if (HEARTH_UNLIKELY(loop.ordered)) {
    // Whoever leaves early (cancelled) passes nothing on: the others are leaving as well.
    loop.ordered = false;
    loop.ordered_passed = true;
  }
  forget(loop);
  if (HEARTH_UNLIKELY(loop.share != nullptr || loop.own_memory != nullptr)) end_share(self);
  HEARTH_ASSERT(loop.kind == LoopKind::none && loop.share == nullptr && loop.own_memory == nullptr,
                "the loop has ended in state %d", static_cast<int>(loop.kind));
}

}  // namespace hearth::rt
