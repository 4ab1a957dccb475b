#include "runtime/loop/ordered.h"

#include <cinttypes>

#include "base/assert.h"
#include "runtime/loop/workshare.h"
#include "runtime/sync/shared_writes.h"
#include "runtime/sync/wait.h"

namespace hearth::rt {
namespace {

void wait_for_turn(Thread* self, const LoopState& loop) {
  const std::atomic<std::uint64_t>& turn = loop.share->turn;
  // Pairs with the release store in pass_on(): the ordered regions before this one are seen.
  wait_until(self->team->events, [&] {
    return turn.load(std::memory_order_acquire) == loop.ordered_first || construct_cancelled(self);
  });
}

void pass_on(Thread* self, LoopState& loop) {
  HEARTH_ASSERT(
      loop.ordered_first < loop.ordered_end &&
          (loop.share->turn.load(std::memory_order_relaxed) == loop.ordered_first || construct_cancelled(self)),
      "iterations [%" PRIu64 ", %" PRIu64 ") pass on the turn of %" PRIu64, loop.ordered_first, loop.ordered_end,
      loop.share->turn.load(std::memory_order_relaxed));
  loop.ordered_passed = true;
  count_shared_write();
  loop.share->turn.store(loop.ordered_end,
                         std::memory_order_release);  // pairs with the load in wait_for_turn()
  self->team->events.notify_all();
}

}  // namespace

void ordered_begin(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.share == nullptr || loop.ordered_passed) return;  // a team of one
  wait_for_turn(self, loop);
}

void ordered_end(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.share == nullptr || loop.ordered_passed) return;
  if (++loop.ordered_done == loop.ordered_end - loop.ordered_first) pass_on(self, loop);
}

void pass_ordered_turn(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.share == nullptr || loop.ordered_passed) return;
  wait_for_turn(self, loop);
  pass_on(self, loop);
}

}  // namespace hearth::rt
