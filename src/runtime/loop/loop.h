// Worksharing loops and sections: who runs which iterations. The hot path is next_chunk(), mostly without an
// atomic.
//
// Called by each member of the team for itself: begin_loop(), next_chunk() until it returns false,
// end_loop(). Static schedules need no shared state; the others use what workshare.h has. loop.cpp tells the
// protocols.
#pragma once

#include <cinttypes>
#include <cstdint>

#include "base/assert.h"
#include "base/cpu.h"
#include "runtime/loop/loop_parts.h"
#include "runtime/loop/workshare.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// A StealRange that no construct has used yet.
inline constexpr std::uint64_t kUnusedRange = ~std::uint64_t{0};

/// The numbers of omp_sched_t, and what a clause or an ICV adds to them.
enum class ScheduleKind : std::uint8_t { static_ = 1, dynamic = 2, guided = 3, automatic = 4 };

struct LoopPlan {
  ScheduleKind kind = ScheduleKind::static_;
  std::uint64_t chunk = 0;  // 0: none given
  bool monotonic = false;      // dynamic: chunks of one member come in rising order
  bool ordered = false;        // with ordered regions
  bool doacross = false;       // iterations wait for earlier ones: they must be handed out in order, one by one
  bool whole_chunks = false;   // simd: chunks, and static blocks, are multiples of `chunk`
  const void* site = nullptr;  // an address that tells the loop from others; null: nothing is remembered of it
};

/// What schedule(runtime) means now: run-sched-var. `monotonic` is set if the ICV says so.
LoopPlan runtime_plan(const Thread* self);

/// The calling member's iterations in a static schedule without a chunk: an equal part, or one by the capacity of its core
/// (HEARTH_STATIC_BY_CAPACITY).
inline Block own_block(const Thread* self, std::uint64_t trip) {
  const Team& team = *self->team;
  if (HEARTH_LIKELY(team.weights == 0))
    return static_block(trip, static_cast<std::uint64_t>(self->tid), static_cast<std::uint64_t>(team.size));
  return weighted_block(trip, self->member->weight_before, self->member->weight, team.weights);
}

void begin_loop(Thread* self, std::uint64_t trip, const LoopPlan& plan);
/// sections: `count` chunks of one. begin_sections() when the count is told only by next_section().
void begin_sections(Thread* self, std::uint64_t count);

/// More iterations into the reserve; false: none are left.
bool refill(Thread* self);
/// The next chunk, of at least one iteration.
inline bool next_chunk(Thread* self, std::uint64_t& first, std::uint64_t& count) {
  LoopState& loop = self->member->loop;
  if (HEARTH_UNLIKELY(loop.next == loop.end) && !refill(self)) return false;
  first = loop.next;
  count = loop.end - loop.next;
  HEARTH_ASSERT(loop.next < loop.end && loop.end <= loop.trip,
                "the reserve is [%" PRIu64 ", %" PRIu64 ") of %" PRIu64 " iterations", loop.next, loop.end, loop.trip);
  if (loop.chunk != 0 && count > loop.chunk) count = loop.chunk;
  loop.next += count;
  return true;
}
/// The same in a loop with ordered regions (ordered.h).
bool next_ordered_chunk(Thread* self, std::uint64_t& first, std::uint64_t& count);

/// The member has left the construct; also where a cancelled one is left early. May be called twice.
void end_loop(Thread* self);

}  // namespace hearth::rt
