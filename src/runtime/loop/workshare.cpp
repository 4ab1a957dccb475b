#include "runtime/loop/workshare.h"

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/loop_affinity.h"
#include "runtime/loop/loop_ranges.h"
#include "runtime/sync/shared_writes.h"
#include "runtime/sync/wait.h"

namespace hearth::rt {
namespace {

void* allocate(std::size_t bytes, const char* what) {
  void* p = nullptr;
  if (posix_memalign(&p, kCacheLinePair, bytes) != 0) fatal("out of memory: no room for %s", what);
  return p;
}

void empty_slot(WorkShare& share) {
  std::free(share.memory.exchange(nullptr, std::memory_order_relaxed));
  std::free(share.flags.exchange(nullptr, std::memory_order_relaxed));
  share.reductions.store(nullptr, std::memory_order_relaxed);
  share.turn.store(0, std::memory_order_relaxed);
  share.left.store(0, std::memory_order_relaxed);
}

WorkShares* make_workshares(Team* team) {
  auto* all = new (allocate(sizeof(WorkShares), "worksharing constructs")) WorkShares;
  const auto members = static_cast<std::size_t>(team->capacity);
  all->reduce = static_cast<ReduceCell*>(allocate(sizeof(ReduceCell) * members, "reductions"));
  for (std::size_t i = 0; i < members; ++i) new (all->reduce + i) ReduceCell;
  all->ranges = static_cast<StealRange*>(allocate(sizeof(StealRange) * members * ranges::kSlots, "loops"));
  for (std::size_t i = 0; i < members * ranges::kSlots; ++i) new (all->ranges + i) StealRange;
  all->memory = make_loop_memory(team);
  return all;
}

// Which construct is cancelled: the region and the barriers met in it.
std::uint64_t cancel_mark(const Thread* self) {
  return std::uint64_t{self->team->epoch()} << 32 | static_cast<std::uint32_t>(self->member->phase + 1);
}

}  // namespace

void restart_workshares(Team* team) {
  if (team->size == 1) return;
  if (team->workshares == nullptr) team->workshares = make_workshares(team);
  WorkShares& all = *team->workshares;
  HEARTH_ASSERT(team->size <= team->capacity, "a team of %d has room for %d", int{team->size}, team->capacity);
  all.counter.store(0, std::memory_order_relaxed);
  all.cancelled.store(0, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < ranges::kSlots; ++i) {
    all.exhausted[i].store(0, std::memory_order_relaxed);
    empty_slot(all.slots[i]);
    // Numbers start at 1, so that a zeroed word is about an older construct than any.
    all.slots[i].number.store(i == 0 ? ranges::kSlots : i, std::memory_order_relaxed);
  }
  const auto members = static_cast<std::size_t>(team->capacity);
  for (std::size_t i = 0; i < members; ++i) all.reduce[i].data.store(nullptr, std::memory_order_relaxed);
  for (std::size_t i = 0; i < members * ranges::kSlots; ++i)
    all.ranges[i].word.store(kUnusedRange, std::memory_order_relaxed);
  restart_loop_memory(team);
}

void restart_member(Member* member) {
  LoopState& loop = member->loop;
  loop.kind = LoopKind::none;
  loop.counted = loop.stealing = loop.shared = 0;
  loop.share = loop.doacross = nullptr;
  const WorkShares* all = member->team->workshares;
  if (all != nullptr && all->memory != nullptr) loop.instances = all->memory->first_instance;
}

void free_workshares(Team* team) {
  WorkShares* all = team->workshares;
  if (all == nullptr) return;
  for (WorkShare& share : all->slots) empty_slot(share);
  std::free(all->reduce);
  std::free(all->ranges);
  free_loop_memory(all->memory);
  all->~WorkShares();
  std::free(all);
  team->workshares = nullptr;
}

WorkShare* enter_share(Thread* self) {
  Team* team = self->team;
  const std::uint32_t number = ++self->member->loop.shared;
  WorkShare& share = team->workshares->slots[number % ranges::kSlots];
  // Pairs with the release store in leave_share(), so that the fields are seen zeroed.
  wait_until(team->events, [&] { return share.number.load(std::memory_order_acquire) == number; });
  return &share;
}

void leave_share(Thread* self, WorkShare* share) {
  Team* team = self->team;
  const std::uint32_t number = share->number.load(std::memory_order_relaxed);
  HEARTH_ASSERT(share == &team->workshares->slots[number % ranges::kSlots] &&
                    static_cast<std::int32_t>(number - self->member->loop.shared) <= 0,
                "member %d leaves construct %u, and has met %u", self->tid, number, self->member->loop.shared);
  count_shared_write();
  // acq_rel: the last to leave clears what all the others have used.
  const std::uint32_t left = share->left.fetch_add(1, std::memory_order_acq_rel) + 1;
  HEARTH_ASSERT(left <= static_cast<std::uint32_t>(team->size), "%u members of %d have left construct %u", left,
                int{team->size}, number);
  if (left != static_cast<std::uint32_t>(team->size)) return;
  empty_slot(*share);
  count_shared_write();
  share->number.store(number + ranges::kSlots, std::memory_order_release);  // pairs with the load in enter_share()
  team->events.notify_all();
}

void* share_memory(Thread* self, std::size_t bytes) {
  LoopState& loop = self->member->loop;
  const std::size_t rounded = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  auto zeroed = [&] { return std::memset(allocate(rounded, "a loop's reductions"), 0, rounded); };
  if (loop.share == nullptr) {  // a team of one
    std::free(loop.own_memory);
    return loop.own_memory = zeroed();
  }
  void* seen = loop.share->memory.load(std::memory_order_acquire);  // pairs with the release below
  if (seen != nullptr) return seen;
  void* mine = zeroed();
  count_shared_write();
  // Release: others see the zeroes. Acquire: so do we, if somebody else was first.
  if (loop.share->memory.compare_exchange_strong(seen, mine, std::memory_order_acq_rel,
                                                 std::memory_order_acquire))
    return mine;
  std::free(mine);
  return seen;
}

void end_share(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.share != nullptr) {
    WorkShare* share = loop.share;
    loop.share = nullptr;
    leave_share(self, share);
  }
  if (HEARTH_UNLIKELY(loop.own_memory != nullptr)) {
    std::free(loop.own_memory);
    loop.own_memory = nullptr;
  }
}

void cancel_workshare(Thread* self) {
  WorkShares* all = self->team->workshares;
  if (self->team->size == 1) {
    self->member->loop.cancelled = cancel_mark(self);
    return;
  }
  HEARTH_ASSERT(all->cancelled.load(std::memory_order_relaxed) <= cancel_mark(self),
                "construct %#" PRIx64 " of the future is cancelled; this one is %#" PRIx64,
                all->cancelled.load(std::memory_order_relaxed), cancel_mark(self));
  count_shared_write();
  all->cancelled.store(cancel_mark(self), std::memory_order_relaxed);  // only the value matters
  self->team->events.notify_all();  // who waits for an ordered turn of this member
}

bool workshare_cancelled(const Thread* self) {
  const std::uint64_t mark = self->team->size == 1
                                 ? self->member->loop.cancelled
                                 : self->team->workshares->cancelled.load(std::memory_order_relaxed);
  return mark == cancel_mark(self);
}

}  // namespace hearth::rt
