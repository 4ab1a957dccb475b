// clang's dynamically scheduled loops, and sections: translators to runtime/loop/loop.h. Each member of the team
// for itself.
//
// *_init_* begins a loop, *_next_* gives a chunk (bounds inclusive) or, by 0, says that none is left, which
// also ends the loop. The calls at the end of an ordered iteration have nothing to do: ordered.h counts them
// itself.
#include <cstdint>
#include <type_traits>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "abi/kmpc/sched.h"
#include "abi/work_events.h"
#include "runtime/loop/loop.h"

using hearth::rt::LoopPlan;
using hearth::rt::LoopState;
using hearth::rt::ScheduleKind;
using hearth::rt::Thread;
namespace abi = hearth::abi;

namespace {

LoopPlan plan_of(Thread* self, std::int32_t schedule, std::int64_t chunk) {
  const abi::DecodedSchedule given = abi::DecodedSchedule::of(schedule);
  LoopPlan plan;
  plan.chunk = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
  // Without either modifier a program of OpenMP 4.5 or older may count on rising order.
  plan.monotonic = !given.nonmonotonic;
  switch (given.kind) {
    case abi::kDynamicChunked: plan.kind = ScheduleKind::dynamic; break;
    case abi::kStaticSteal:
      plan.kind = ScheduleKind::dynamic;
      plan.monotonic = false;
      break;
    case abi::kGuidedSimd: plan.whole_chunks = true; [[fallthrough]];
    case abi::kTrapezoidal:
    case abi::kGuidedIterative:
    case abi::kGuidedAnalytical:
    case abi::kAuto:  // balances whatever the iterations cost
    case abi::kGuidedChunked: plan.kind = ScheduleKind::guided; break;
    case abi::kRuntime: {
      plan = hearth::rt::runtime_plan(self);
      if (given.monotonic) plan.monotonic = true;
      break;
    }
    case abi::kRuntimeSimd: {  // `chunk` is the number of lanes, of which every chunk is a multiple
      const std::uint64_t lanes = plan.chunk == 0 ? 1 : plan.chunk;
      plan = hearth::rt::runtime_plan(self);
      if (given.monotonic) plan.monotonic = true;
      if (plan.kind == ScheduleKind::automatic) plan.kind = ScheduleKind::static_;
      if (plan.chunk == 0 || plan.kind == ScheduleKind::guided) plan.whole_chunks = true;
      plan.chunk = (plan.chunk == 0 ? 1 : plan.chunk) * lanes;
      break;
    }
    case abi::kStaticBalancedChunked:
      plan.kind = ScheduleKind::static_;
      plan.whole_chunks = true;
      break;
    case abi::kStaticChunked: plan.kind = ScheduleKind::static_; break;
    default:
      plan.kind = ScheduleKind::static_;
      plan.chunk = 0;
      break;
  }
  plan.ordered = given.ordered;
  plan.doacross = self->member->loop.doacross != nullptr;
  return plan;
}

template <class T>
using Signed = std::make_signed_t<T>;

template <class T>
std::uint64_t trip_of(T lower, T upper, Signed<T> step) {
  using U = std::make_unsigned_t<T>;
  if (step > 0 ? lower > upper : lower < upper) return 0;
  const U way = step > 0 ? static_cast<U>(static_cast<U>(upper) - static_cast<U>(lower))
                         : static_cast<U>(static_cast<U>(lower) - static_cast<U>(upper));
  const U length = step > 0 ? static_cast<U>(step) : static_cast<U>(U{0} - static_cast<U>(step));
  return std::uint64_t{static_cast<U>(way / length)} + 1;
}

template <class T>
[[gnu::always_inline]] inline void dispatch_init(std::int32_t schedule, T lower, T upper, Signed<T> step,
                                                 Signed<T> chunk) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  LoopPlan plan = plan_of(self, schedule, std::int64_t{chunk});
  plan.site = __builtin_return_address(0);
  LoopState& loop = self->member->loop;
  const std::uint64_t trip = trip_of<T>(lower, upper, step);
  loop.base = static_cast<std::uint64_t>(lower);
  loop.step = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  hearth::rt::begin_loop(self, trip, plan);
  // Alone, a guided loop is one chunk: a static loop.
  const bool whole = plan.kind == ScheduleKind::guided && self->team->size == 1;
  abi::begin_work(self, whole ? ompt_work_loop_static : abi::work_kind(plan), trip);
}

// distribute parallel for: the team's block of the league's iterations is what its threads share.
template <class T>
[[gnu::always_inline]] inline void dist_dispatch_init(std::int32_t schedule, std::int32_t* last, T lower,
                                                      T upper, Signed<T> step, Signed<T> chunk) {
  using U = std::make_unsigned_t<T>;
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const std::uint64_t trip = trip_of<T>(lower, upper, step);
  const hearth::rt::Block block =
      hearth::rt::static_block(trip, static_cast<std::uint64_t>(self->team->team_num),
                               static_cast<std::uint64_t>(self->team->num_teams));
  if (last != nullptr) *last = block.first < block.end && block.end == trip;
  LoopPlan plan = plan_of(self, schedule, std::int64_t{chunk});
  plan.site = __builtin_return_address(0);
  LoopState& loop = self->member->loop;
  loop.base = static_cast<std::uint64_t>(
      static_cast<T>(static_cast<U>(lower) + static_cast<U>(block.first) * static_cast<U>(step)));
  loop.step = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  hearth::rt::begin_loop(self, block.end - block.first, plan);
  abi::begin_work(self, ompt_work_distribute, block.end - block.first);
}

template <class T>
[[gnu::always_inline]] inline std::int32_t dispatch_next(std::int32_t* last, T* lower, T* upper,
                                                         Signed<T>* stride) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  LoopState& loop = self->member->loop;
  std::uint64_t first = 0, count = 0;
  const bool some = HEARTH_UNLIKELY(loop.ordered) ? hearth::rt::next_ordered_chunk(self, first, count)
                                                  : hearth::rt::next_chunk(self, first, count);
  if (!some) {
    hearth::rt::end_loop(self);
    abi::end_work(self);
    return 0;  // *last stays: it tells whether the member's last chunk was the loop's
  }
  const std::uint64_t start = loop.base + first * loop.step;
  *lower = static_cast<T>(start);
  *upper = static_cast<T>(start + (count - 1) * loop.step);
  if (stride != nullptr) *stride = static_cast<Signed<T>>(loop.step);
  if (last != nullptr) *last = first + count == loop.trip;
  if (hearth::rt::events::active()) abi::tell_chunk(self, start, count);
  return 1;
}

}  // namespace

#define DISPATCH(suffix, type, step_type)                                                                 \
  HEARTH_EXPORT void __kmpc_dispatch_init_##suffix(ident_t*, std::int32_t, std::int32_t schedule,         \
                                                   type lower, type upper, step_type step,                \
                                                   step_type chunk) {                                     \
    dispatch_init<type>(schedule, lower, upper, step, chunk);                                             \
  }                                                                                                       \
  HEARTH_EXPORT void __kmpc_dist_dispatch_init_##suffix(ident_t*, std::int32_t, std::int32_t schedule,    \
                                                        std::int32_t* last, type lower, type upper,       \
                                                        step_type step, step_type chunk) {                \
    dist_dispatch_init<type>(schedule, last, lower, upper, step, chunk);                                  \
  }                                                                                                       \
  HEARTH_EXPORT std::int32_t __kmpc_dispatch_next_##suffix(ident_t*, std::int32_t, std::int32_t* last,    \
                                                           type* lower, type* upper, step_type* stride) { \
    return dispatch_next<type>(last, lower, upper, stride);                                               \
  }                                                                                                       \
  HEARTH_EXPORT void __kmpc_dispatch_fini_##suffix(ident_t*, std::int32_t) {}

DISPATCH(4, std::int32_t, std::int32_t)
DISPATCH(4u, std::uint32_t, std::int32_t)
DISPATCH(8, std::int64_t, std::int64_t)
DISPATCH(8u, std::uint64_t, std::int64_t)

HEARTH_EXPORT void __kmpc_dispatch_deinit(ident_t*, std::int32_t) {}

HEARTH_EXPORT std::int32_t __kmpc_sections_init(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  // How many there are is told by each __kmpc_next_section().
  hearth::rt::begin_sections(self, UINT32_MAX);
  abi::begin_work(self, ompt_work_sections, 0);
  return 1;
}

/// The section to run, from 0; `count` when none is left.
HEARTH_EXPORT std::int32_t __kmpc_next_section(ident_t*, std::int32_t, std::int32_t count) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  LoopState& loop = self->member->loop;
  loop.trip = loop.dealt = loop.units = static_cast<std::uint64_t>(count);
  if (loop.end > loop.trip) loop.end = loop.trip;  // a team of one
  std::uint64_t first = 0, one = 0;
  if (!hearth::rt::next_chunk(self, first, one)) return count;
  if (hearth::rt::events::active()) abi::tell_section(self);
  return static_cast<std::int32_t>(first);
}

HEARTH_EXPORT void __kmpc_end_sections(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::end_loop(self);
  abi::end_work(self);
}
