#include "runtime/loop/reduction.h"

#include "base/assert.h"
#include "runtime/loop/workshare.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/lock.h"
#include "runtime/sync/shared_writes.h"
#include "runtime/sync/wait.h"

namespace hearth::rt {
namespace {

enum Method : std::uint8_t { kAlone, kLock, kTree };

constexpr int kFan = 4;  // children that a member of the tree combines per level

// True in the root: its data holds everybody's now.
bool combine_tree(Thread* self, void* data, void (*combine)(void*, void*)) {
  Team* team = self->team;
  ReduceCell* cells = team->workshares->reduce;
  const int size = team->size, tid = self->tid;
  for (int stride = 1; stride < size && tid % (stride * kFan) == 0; stride *= kFan) {
    for (int child = tid + stride; child < tid + stride * kFan && child < size; child += stride) {
      std::atomic<void*>& cell = cells[child].data;
      void* theirs = nullptr;
      // Pairs with the child's release below: its data is complete.
      wait_until(team->events, [&] { return (theirs = cell.load(std::memory_order_acquire)) != nullptr; });
      combine(data, theirs);
      count_shared_write();
      cell.store(nullptr, std::memory_order_release);  // pairs with the child's acquire below
      team->events.notify_all();
    }
  }
  if (tid == 0) return true;
  std::atomic<void*>& mine = cells[tid].data;
  HEARTH_ASSERT(mine.load(std::memory_order_relaxed) == nullptr, "what member %d gave last, %p, was not combined yet",
                tid, mine.load(std::memory_order_relaxed));
  count_shared_write();
  mine.store(data, std::memory_order_release);  // pairs with the parent's acquire above
  team->events.notify_all();
  // Acquire pairs with the parent's release above: it has read the data, which are in this member's frame.
  wait_until(team->events, [&] { return mine.load(std::memory_order_acquire) == nullptr; });
  return false;
}

}  // namespace

ReduceStep reduce_begin(Thread* self, void* data, void (*combine)(void*, void*), Lock& lock,
                        bool has_atomic) {
  std::uint8_t& method = self->member->loop.reduce_method;
  method = kAlone;
  const Team& team = *self->team;
  // The initial task of a team combines into variables that it shares with the other teams of its league.
  const bool in_league = team.parent == nullptr && team.num_teams > 1;
  if (team.size == 1 && HEARTH_LIKELY(!in_league)) return ReduceStep::combine;
  const bool in_order = settings().deterministic_reduction && team.size > 1;
  // A member that `cancel` sends to the end of the region gives its parent nothing, which would wait for ever.
  const bool may_tree = data != nullptr && combine != nullptr && !settings().cancellation;
  if (has_atomic && !(in_order && may_tree)) return ReduceStep::update_atomically;
  if (!may_tree || (team.size <= Team::kFlat && !in_order)) {
    lock.lock();
    method = kLock;
    return ReduceStep::combine;
  }
  method = kTree;
  return combine_tree(self, data, combine) ? ReduceStep::combine : ReduceStep::nothing;
}

void reduce_end(Thread* self, Lock& lock) {
  HEARTH_ASSERT(self->member->loop.reduce_method != kLock || lock.is_locked(), "member %d combines without the lock",
                self->tid);
  if (self->member->loop.reduce_method == kLock) lock.unlock();
  self->member->loop.reduce_method = kAlone;
}

}  // namespace hearth::rt
