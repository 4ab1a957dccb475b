// The single construct: the first to come runs it. One load, then at most one compare-and-swap; any member.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "runtime/state/thread.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {

/// Whether the caller runs this single construct. Team::singles counts the constructs of the region that have
/// been claimed.
inline bool single_begin(Thread* self) {
  Team* team = self->team;
  if (team->size == 1) return true;
  const std::uint32_t number = ++self->member->singles;
  std::uint32_t seen = team->singles.load(std::memory_order_relaxed);
  // Whoever is at construct n has seen n-1 claimed, so the count is n-1 or beyond.
  HEARTH_ASSERT(static_cast<std::int32_t>(seen - number) >= -1,
                "member %d is at single construct %u, and %u were claimed", self->tid, number, seen);
  if (static_cast<std::int32_t>(seen - number) >= 0) return false;
  count_shared_write();
  // Relaxed: which thread comes first orders nothing; the barrier after the construct does.
  return team->singles.compare_exchange_strong(seen, number, std::memory_order_relaxed);
}

}  // namespace hearth::rt
