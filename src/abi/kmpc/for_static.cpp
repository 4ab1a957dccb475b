// clang's static schedules, of loops and of distribute: each caller computes its own part. No shared state.
//
// Bounds are inclusive. A caller with no iterations gets bounds that make an empty loop. The arithmetic is
// unsigned in the width of the loop variable, so that bounds near the type's ends do not overflow.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "abi/kmpc/sched.h"
#include "abi/work_events.h"
#include "runtime/loop/loop.h"

using hearth::rt::Block;
using hearth::rt::own_block;
using hearth::rt::static_block;
using hearth::rt::Thread;
namespace abi = hearth::abi;

namespace {

template <class T>
struct Loop {
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;

  U lower, upper;
  S step;
  std::uint64_t trip;

  Loop(T from, T to, S by) : lower(static_cast<U>(from)), upper(static_cast<U>(to)), step(by) {
    const bool some = by > 0 ? from <= to : from >= to;
    const U way = by > 0 ? static_cast<U>(upper - lower) : static_cast<U>(lower - upper);
    const U length = by > 0 ? static_cast<U>(by) : static_cast<U>(U{0} - static_cast<U>(by));
    trip = some ? std::uint64_t{static_cast<U>(way / length)} + 1 : 0;
  }
  U at(std::uint64_t iteration) const {
    return static_cast<U>(lower + static_cast<U>(iteration) * static_cast<U>(step));
  }
  U times(std::uint64_t iterations) const {
    return static_cast<U>(static_cast<U>(iterations) * static_cast<U>(step));
  }
};

template <class T>
struct Bounds {
  T* lower;
  T* upper;

  void set(const Loop<T>& loop, std::uint64_t first, std::uint64_t end) const {
    if (first >= end) return set_empty(loop);
    *lower = static_cast<T>(loop.at(first));
    *upper = static_cast<T>(loop.at(end - 1));
  }
  // One step behind the end; or, where that leaves the type, the end one step before the start.
  void set_empty(const Loop<T>& loop) const {
    const auto end = static_cast<T>(loop.upper);
    const auto behind = static_cast<T>(loop.upper + static_cast<typename Loop<T>::U>(loop.step));
    if (loop.step > 0 ? behind > end : behind < end) {
      *lower = behind;
      *upper = end;
    } else {
      *lower = loop.step > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
      *upper = static_cast<T>(static_cast<typename Loop<T>::U>(*lower) -
                              static_cast<typename Loop<T>::U>(loop.step));
    }
  }
};

// The part of `who` among `of`, chunks going round: its first chunk, and the distance to its next.
template <class T>
bool deal_chunks(const Loop<T>& loop, Bounds<T> bounds, typename Loop<T>::S* stride, std::int64_t chunk,
                 std::uint64_t who, std::uint64_t of) {
  std::uint64_t size = chunk < 1 ? 1 : static_cast<std::uint64_t>(chunk);
  if (size > loop.trip) size = loop.trip;
  const std::uint64_t chunks = (loop.trip - 1) / size + 1;
  if (stride != nullptr) *stride = static_cast<typename Loop<T>::S>(loop.times(size * of));
  if (who < chunks) {
    // The end of the last chunk is not cut off here: the program compares with its own bound.
    *bounds.lower = static_cast<T>(loop.at(who * size));
    const bool cut = who == chunks - 1;
    *bounds.upper =
        cut ? static_cast<T>(loop.at(loop.trip - 1)) : static_cast<T>(loop.at(who * size + size - 1));
  } else {
    bounds.set_empty(loop);
  }
  return (chunks - 1) % of == who;
}

// One block for each. True: the last iteration is in it.
template <class T>
bool give_block(const Loop<T>& loop, Bounds<T> bounds, const Block& block) {
  bounds.set(loop, block.first, block.end);
  return block.first < block.end && block.end == loop.trip;
}

// One block each, of whole chunks.
template <class T>
bool deal_rounded_block(const Loop<T>& loop, Bounds<T> bounds, std::int64_t chunk, std::uint64_t who,
                        std::uint64_t of) {
  const std::uint64_t size = chunk < 1 ? 1 : static_cast<std::uint64_t>(chunk);
  const std::uint64_t even = (loop.trip - 1) / of + 1;
  const std::uint64_t block = ((even - 1) / size + 1) * size;
  const std::uint64_t first = block * who;
  const std::uint64_t end = loop.trip - first < block ? loop.trip : first + block;
  if (first >= loop.trip) {
    bounds.set_empty(loop);
    return false;
  }
  bounds.set(loop, first, end);
  return end == loop.trip;
}

// The stride of a caller that gets all its iterations at once: past the end.
template <class T>
typename Loop<T>::S whole_stride(const Loop<T>& loop) {
  using U = typename Loop<T>::U;
  const U way = loop.step > 0 ? static_cast<U>(loop.upper - loop.lower + 1)
                              : static_cast<U>(U{0} - (loop.lower - loop.upper + 1));
  return static_cast<typename Loop<T>::S>(way);
}

// What the tool hears of the caller's part: of a schedule with chunks only the first, since the program goes
// from chunk to chunk by itself.
template <class T>
[[gnu::cold]] void tell_part(Thread* self, T lower, T upper, typename Loop<T>::S step) {
  const Loop<T> part(lower, upper, step);
  if (part.trip == 0) return;
  if (self->member->loop.work == ompt_work_sections)
    for (std::uint64_t section = 0; section < part.trip; ++section) abi::tell_section(self);
  else
    abi::tell_chunk(self, static_cast<std::uint64_t>(lower), part.trip);
}

constexpr std::int32_t kSections = 0x400, kDistributeFlag = 0x800;  // in ident_t::flags

template <class T>
[[gnu::always_inline]] inline void for_static_init(std::int32_t schedule, std::int32_t* last, T* lower,
                                                   T* upper, typename Loop<T>::S* stride,
                                                   typename Loop<T>::S step, typename Loop<T>::S chunk,
                                                   std::int32_t source_flags) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const abi::DecodedSchedule given = abi::DecodedSchedule::of(schedule);
  const Loop<T> loop(*lower, *upper, step);
  const bool distribute = given.kind == abi::kDistribute || given.kind == abi::kDistributeChunked;
  const auto who = static_cast<std::uint64_t>(distribute ? self->team->team_num : self->tid);
  const auto of = static_cast<std::uint64_t>(distribute ? self->team->num_teams
                                                        : static_cast<std::int32_t>(self->team->size));
  if (hearth::rt::events::active()) {
      abi::begin_work(self,
                    (source_flags & kSections) != 0                       ? ompt_work_sections
                    : distribute || (source_flags & kDistributeFlag) != 0 ? ompt_work_distribute
                                                                          : ompt_work_loop_static,
                    loop.trip);
  }
  if (loop.trip == 0) {  // the bounds say so already
    if (last != nullptr) *last = 0;
    *stride = step;
    return;
  }
  bool is_last = true;
  *stride = whole_stride(loop);
  if (of > 1) {
    const Bounds<T> bounds{lower, upper};
    switch (given.kind) {
      case abi::kStaticChunked:
      case abi::kDistributeChunked:
        is_last = deal_chunks(loop, bounds, stride, std::int64_t{chunk}, who, of);
        break;
      case abi::kStaticBalancedChunked:
        is_last = deal_rounded_block(loop, bounds, std::int64_t{chunk}, who, of);
        break;
      default:  // members may differ in their cores; teams, and sections, do not
        is_last = give_block(loop, bounds,
                             distribute || (source_flags & kSections) != 0 ? static_block(loop.trip, who, of)
                                                                           : own_block(self, loop.trip));
    }
  }
  if (last != nullptr) *last = is_last;
  if (hearth::rt::events::active()) tell_part<T>(self, *lower, *upper, step);
}

// distribute parallel for: the team's block of the league's iterations, and in it the thread's part.
template <class T>
void dist_for_static_init(std::int32_t schedule, std::int32_t* last, T* lower, T* upper, T* upper_of_team,
                          typename Loop<T>::S* stride, typename Loop<T>::S step, typename Loop<T>::S chunk) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const Loop<T> whole(*lower, *upper, step);
  abi::begin_work(self, ompt_work_distribute, whole.trip);
  if (whole.trip == 0) {
    *last = 0;
    *upper_of_team = *upper;
    *stride = step;
    return;
  }
  const Bounds<T> bounds{lower, upper};
  const bool last_team = give_block(whole, bounds,
                                    static_block(whole.trip, static_cast<std::uint64_t>(self->team->team_num),
                                                 static_cast<std::uint64_t>(self->team->num_teams)));
  *upper_of_team = *upper;
  const Loop<T> ours(*lower, *upper, step);
  bool is_last = false;
  *stride = step;
  if (ours.trip != 0) {
    const auto who = static_cast<std::uint64_t>(self->tid);
    const auto of = static_cast<std::uint64_t>(static_cast<std::int32_t>(self->team->size));
    *stride = whole_stride(ours);
    is_last = abi::DecodedSchedule::of(schedule).kind == abi::kStaticChunked
                  ? deal_chunks(ours, bounds, stride, std::int64_t{chunk}, who, of)
                  : give_block(ours, bounds, own_block(self, ours.trip));
  }
  *last = last_team && is_last;
  if (hearth::rt::events::active()) tell_part<T>(self, *lower, *upper, step);
}

// distribute with dist_schedule(static, chunk): the team's first chunk.
template <class T>
void team_static_init(std::int32_t* last, T* lower, T* upper, typename Loop<T>::S* stride,
                      typename Loop<T>::S step, typename Loop<T>::S chunk) {
  Thread* self = Thread::current();
  const Loop<T> loop(*lower, *upper, step);
  if (loop.trip == 0) {
    *last = 0;
    *stride = step;
    return;
  }
  *last = deal_chunks(loop, Bounds<T>{lower, upper}, stride, std::int64_t{chunk},
                      static_cast<std::uint64_t>(self->team->team_num),
                      static_cast<std::uint64_t>(self->team->num_teams));
}

}  // namespace

// The four widths; `step_type` is the signed type of the same width.
#define FOR_STATIC(suffix, type, step_type)                                                                \
  HEARTH_EXPORT void __kmpc_for_static_init_##suffix(ident_t* where, std::int32_t, std::int32_t schedule,  \
                                                     std::int32_t* last, type* lower, type* upper,         \
                                                     step_type* stride, step_type step, step_type chunk) { \
    for_static_init<type>(schedule, last, lower, upper, stride, step, chunk,                               \
                          where == nullptr ? 0 : where->flags);                                            \
  }                                                                                                        \
  HEARTH_EXPORT void __kmpc_dist_for_static_init_##suffix(                                                 \
      ident_t*, std::int32_t, std::int32_t schedule, std::int32_t* last, type* lower, type* upper,         \
      type* upper_of_team, step_type* stride, step_type step, step_type chunk) {                           \
    dist_for_static_init<type>(schedule, last, lower, upper, upper_of_team, stride, step, chunk);          \
  }                                                                                                        \
  HEARTH_EXPORT void __kmpc_team_static_init_##suffix(ident_t*, std::int32_t, std::int32_t* last,          \
                                                      type* lower, type* upper, step_type* stride,         \
                                                      step_type step, step_type chunk) {                   \
    team_static_init<type>(last, lower, upper, stride, step, chunk);                                       \
  }

FOR_STATIC(4, std::int32_t, std::int32_t)
FOR_STATIC(4u, std::uint32_t, std::int32_t)
FOR_STATIC(8, std::int64_t, std::int64_t)
FOR_STATIC(8u, std::uint64_t, std::int64_t)

HEARTH_EXPORT void __kmpc_for_static_fini(ident_t*, std::int32_t) {
  if (!hearth::rt::events::active()) return;
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  abi::end_work(self);
}

HEARTH_EXPORT void __kmpc_dist_for_static_fini(ident_t*, std::int32_t) {
  if (!hearth::rt::events::active()) return;
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  abi::end_work(self);
}
