// What gcc's loop entry points share: the program's loop in the runtime's terms.
//
// `long` and `unsigned long long` have 64 bits on every machine that we run on, so one form in unsigned
// arithmetic does for both.
#pragma once

#include <cstdint>

#include "runtime/state/thread.h"
#include "runtime/loop/loop.h"

namespace hearth::abi {

static_assert(sizeof(long) == 8 && sizeof(unsigned long long) == 8, "both kinds of gcc's loops have 64 bits");

struct GompLoop {
  std::uint64_t start, end, step, trip;

  /// `up`: the loop counts upwards; a downward step is negative, as gcc passes it.
  static GompLoop of(bool up, bool some, std::uint64_t start, std::uint64_t end, std::uint64_t step) {
    const std::uint64_t way = up ? end - start : start - end;
    const std::uint64_t length = up ? step : 0 - step;
    return {start, end, step, some ? (way - 1) / length + 1 : 0};
  }
  static GompLoop of(long start, long end, long step) {
    return of(step > 0, step > 0 ? start < end : start > end, static_cast<std::uint64_t>(start),
              static_cast<std::uint64_t>(end), static_cast<std::uint64_t>(step));
  }
  static GompLoop of(bool up, unsigned long long start, unsigned long long end, unsigned long long step) {
    return of(up, up ? start < end : start > end, std::uint64_t{start}, std::uint64_t{end},
              std::uint64_t{step});
  }
};

void begin_gomp_loop(rt::Thread* self, const GompLoop& loop, const rt::LoopPlan& plan);
/// Fills [start, end) of the next chunk. False: none is left.
bool next_gomp_chunk(rt::Thread* self, std::uint64_t* start, std::uint64_t* end);

enum class RuntimeForm : std::uint8_t {
  monotonic,     // schedule(monotonic: runtime), and what old compilers emit
  nonmonotonic,  // schedule(nonmonotonic: runtime)
  maybe          // schedule(runtime): as run-sched-var says
};
rt::LoopPlan runtime_plan(const rt::Thread* self, RuntimeForm form);

/// A chunk as programs pass it: negative and zero mean none.
inline std::uint64_t chunk_of(long chunk) { return chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0; }

/// A schedule that the entry point's name tells.
inline rt::LoopPlan plain_plan(rt::ScheduleKind kind, std::uint64_t chunk, bool monotonic) {
  rt::LoopPlan plan;
  plan.kind = kind;
  plan.chunk = chunk;
  plan.monotonic = monotonic;
  return plan;
}

/// A `sched` argument of GOMP_loop_start and its kin.
rt::LoopPlan plan_of(const rt::Thread* self, long sched, std::uint64_t chunk);

/// What a construct keeps for all members: task reductions, and `*mem` zeroed bytes, whose address replaces
/// the number.
void begin_gomp_share(rt::Thread* self, std::uintptr_t* reductions, void** mem);

}  // namespace hearth::abi
