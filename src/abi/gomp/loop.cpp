// gcc's entry points for worksharing loops: translators to runtime/loop/loop.h and runtime/loop/doacross.h.
//
// Each member of the team for itself. `*_start` begins the loop and gives the first chunk, `*_next` a further
// one; both return false when there is none. The names tell the schedule apart only at the start: afterwards
// LoopState knows it.
#include "abi/gomp/loop.h"

#include "abi/export.h"
#include "abi/work_events.h"
#include "runtime/team/barrier.h"
#include "runtime/loop/doacross.h"

using hearth::abi::chunk_of;
using hearth::abi::GompLoop;
using hearth::abi::plain_plan;
using hearth::abi::RuntimeForm;
using hearth::rt::LoopPlan;
using hearth::rt::LoopState;
using hearth::rt::ScheduleKind;
using hearth::rt::Thread;
namespace abi = hearth::abi;

namespace hearth::abi {

void begin_gomp_loop(Thread* self, const GompLoop& loop, const LoopPlan& plan) {
  LoopState& state = self->member->loop;
  state.base = loop.start;
  state.step = loop.step;
  state.limit = loop.end;
  rt::begin_loop(self, loop.trip, plan);
  begin_work(self, work_kind(plan), loop.trip);
}

bool next_gomp_chunk(Thread* self, std::uint64_t* start, std::uint64_t* end) {
  LoopState& loop = self->member->loop;
  std::uint64_t first = 0, count = 0;
  const bool some = HEARTH_UNLIKELY(loop.ordered) ? rt::next_ordered_chunk(self, first, count)
                                                  : rt::next_chunk(self, first, count);
  if (!some) return false;
  *start = loop.base + first * loop.step;
  // The last chunk ends where the program's loop does: counting on could pass the largest number.
  *end = first + count == loop.trip ? loop.limit : loop.base + (first + count) * loop.step;
  if (rt::events::active()) tell_chunk(self, *start, count);
  return true;
}

LoopPlan runtime_plan(const Thread* self, RuntimeForm form) {
  LoopPlan plan = rt::runtime_plan(self);
  if (form == RuntimeForm::monotonic) plan.monotonic = true;
  return plan;
}

LoopPlan plan_of(const Thread* self, long sched, std::uint64_t chunk) {
  constexpr long kMonotonic = 0x80000000L;
  constexpr long kRuntime = 0, kNonmonotonicRuntime = 4;
  const bool monotonic = (sched & kMonotonic) != 0;
  const long kind = sched & ~kMonotonic;
  if (kind == kRuntime) return runtime_plan(self, monotonic ? RuntimeForm::monotonic : RuntimeForm::maybe);
  if (kind == kNonmonotonicRuntime) return runtime_plan(self, RuntimeForm::nonmonotonic);
  return plain_plan(static_cast<ScheduleKind>(kind), chunk, monotonic);
}

}  // namespace hearth::abi

namespace {

// Inlined, as are the next ones, so that an Entry in them sees the return address of the entry point.
template <class T>
[[gnu::always_inline]] inline bool next(T* istart, T* iend) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  std::uint64_t start = 0, end = 0;
  if (!abi::next_gomp_chunk(self, &start, &end)) return false;
  *istart = static_cast<T>(start);
  *iend = static_cast<T>(end);
  return true;
}

template <class T>
[[gnu::always_inline]] inline bool start(const GompLoop& loop, LoopPlan plan, bool ordered, T* istart,
                                         T* iend) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  plan.ordered = ordered;
  plan.site = __builtin_return_address(0);
  abi::begin_gomp_loop(self, loop, plan);
  return next(istart, iend);
}

// The form of OpenMP 5.0, with what the members share. Without istart the program computes a static schedule
// itself.
template <class T>
[[gnu::always_inline]] inline bool start_shared(const GompLoop& loop, LoopPlan plan, bool ordered, T* istart,
                                                T* iend, std::uintptr_t* reductions, void** mem) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  plan.ordered = ordered;
  plan.site = __builtin_return_address(0);
  abi::begin_gomp_loop(self, loop, plan);
  abi::begin_gomp_share(self, reductions, mem);
  return istart == nullptr || next(istart, iend);
}

template <class T>
[[gnu::always_inline]] inline bool start_doacross(unsigned ncounts, T* counts, LoopPlan plan, T* istart,
                                                  T* iend, std::uintptr_t* reductions, void** mem) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  static_assert(sizeof(T) == sizeof(std::uint64_t));
  const auto* numbers = reinterpret_cast<const std::uint64_t*>(counts);
  plan.doacross = true;
  abi::begin_gomp_loop(self, GompLoop::of(true, numbers[0] != 0, 0, numbers[0], 1), plan);
  abi::begin_gomp_share(self, reductions, mem);
  hearth::rt::rows_begin(self, ncounts, numbers);
  return istart == nullptr || next(istart, iend);
}

void leave_loop(Thread* self) {
  hearth::rt::doacross_end(self);
  hearth::rt::end_loop(self);
  abi::end_work(self);
}

}  // namespace

// The entry points of one schedule with a chunk: `infix` is the part of the name, `ordered` and the plan what
// it means.
#define LOOP_WITH_CHUNK(infix, kind, monotonic, is_ordered)                                                 \
  HEARTH_EXPORT bool GOMP_loop_##infix##_start(long from, long to, long incr, long chunk, long* istart,     \
                                               long* iend) {                                                \
    return start(GompLoop::of(from, to, incr), plain_plan(ScheduleKind::kind, chunk_of(chunk), monotonic),  \
                 is_ordered, istart, iend);                                                                 \
  }                                                                                                         \
  HEARTH_EXPORT bool GOMP_loop_ull_##infix##_start(bool up, unsigned long long from, unsigned long long to, \
                                                   unsigned long long incr, unsigned long long chunk,       \
                                                   unsigned long long* istart, unsigned long long* iend) {  \
    return start(GompLoop::of(up, from, to, incr), plain_plan(ScheduleKind::kind, chunk, monotonic),        \
                 is_ordered, istart, iend);                                                                 \
  }                                                                                                         \
  LOOP_NEXT(infix)

#define LOOP_RUNTIME(infix, form, is_ordered)                                                               \
  HEARTH_EXPORT bool GOMP_loop_##infix##_start(long from, long to, long incr, long* istart, long* iend) {   \
    return start(GompLoop::of(from, to, incr), abi::runtime_plan(Thread::current(), RuntimeForm::form),     \
                 is_ordered, istart, iend);                                                                 \
  }                                                                                                         \
  HEARTH_EXPORT bool GOMP_loop_ull_##infix##_start(bool up, unsigned long long from, unsigned long long to, \
                                                   unsigned long long incr, unsigned long long* istart,     \
                                                   unsigned long long* iend) {                              \
    return start(GompLoop::of(up, from, to, incr), abi::runtime_plan(Thread::current(), RuntimeForm::form), \
                 is_ordered, istart, iend);                                                                 \
  }                                                                                                         \
  LOOP_NEXT(infix)

#define LOOP_NEXT(infix)                                                                                  \
  HEARTH_EXPORT bool GOMP_loop_##infix##_next(long* istart, long* iend) { return next(istart, iend); }    \
  HEARTH_EXPORT bool GOMP_loop_ull_##infix##_next(unsigned long long* istart, unsigned long long* iend) { \
    return next(istart, iend);                                                                            \
  }

LOOP_WITH_CHUNK(static, static_, true, false)
LOOP_WITH_CHUNK(dynamic, dynamic, true, false)
LOOP_WITH_CHUNK(guided, guided, true, false)
LOOP_WITH_CHUNK(nonmonotonic_dynamic, dynamic, false, false)
LOOP_WITH_CHUNK(nonmonotonic_guided, guided, false, false)
LOOP_WITH_CHUNK(ordered_static, static_, true, true)
LOOP_WITH_CHUNK(ordered_dynamic, dynamic, true, true)
LOOP_WITH_CHUNK(ordered_guided, guided, true, true)
LOOP_RUNTIME(runtime, monotonic, false)
LOOP_RUNTIME(nonmonotonic_runtime, nonmonotonic, false)
LOOP_RUNTIME(maybe_nonmonotonic_runtime, maybe, false)
LOOP_RUNTIME(ordered_runtime, monotonic, true)

#define LOOP_SHARED(infix, is_ordered)                                                                      \
  HEARTH_EXPORT bool GOMP_loop_##infix(long from, long to, long incr, long sched, long chunk, long* istart, \
                                       long* iend, std::uintptr_t* reductions, void** mem) {                \
    return start_shared(GompLoop::of(from, to, incr),                                                       \
                        abi::plan_of(Thread::current(), sched, chunk_of(chunk)), is_ordered, istart, iend,  \
                        reductions, mem);                                                                   \
  }                                                                                                         \
  HEARTH_EXPORT bool GOMP_loop_ull_##infix(bool up, unsigned long long from, unsigned long long to,         \
                                           unsigned long long incr, long sched, unsigned long long chunk,   \
                                           unsigned long long* istart, unsigned long long* iend,            \
                                           std::uintptr_t* reductions, void** mem) {                        \
    return start_shared(GompLoop::of(up, from, to, incr), abi::plan_of(Thread::current(), sched, chunk),    \
                        is_ordered, istart, iend, reductions, mem);                                         \
  }

LOOP_SHARED(start, false)
LOOP_SHARED(ordered_start, true)

#define DOACROSS(infix, kind)                                                                             \
  HEARTH_EXPORT bool GOMP_loop_doacross_##infix##_start(unsigned ncounts, long* counts, long chunk,       \
                                                        long* istart, long* iend) {                       \
    return start_doacross(ncounts, counts, plain_plan(ScheduleKind::kind, chunk_of(chunk), true), istart, \
                          iend, nullptr, nullptr);                                                        \
  }                                                                                                       \
  HEARTH_EXPORT bool GOMP_loop_ull_doacross_##infix##_start(                                              \
      unsigned ncounts, unsigned long long* counts, unsigned long long chunk, unsigned long long* istart, \
      unsigned long long* iend) {                                                                         \
    return start_doacross(ncounts, counts, plain_plan(ScheduleKind::kind, chunk, true), istart, iend,     \
                          nullptr, nullptr);                                                              \
  }

DOACROSS(static, static_)
DOACROSS(dynamic, dynamic)
DOACROSS(guided, guided)

HEARTH_EXPORT bool GOMP_loop_doacross_runtime_start(unsigned ncounts, long* counts, long* istart,
                                                    long* iend) {
  return start_doacross(ncounts, counts, abi::runtime_plan(Thread::current(), RuntimeForm::monotonic), istart,
                        iend, nullptr, nullptr);
}

HEARTH_EXPORT bool GOMP_loop_ull_doacross_runtime_start(unsigned ncounts, unsigned long long* counts,
                                                        unsigned long long* istart,
                                                        unsigned long long* iend) {
  return start_doacross(ncounts, counts, abi::runtime_plan(Thread::current(), RuntimeForm::monotonic), istart,
                        iend, nullptr, nullptr);
}

HEARTH_EXPORT bool GOMP_loop_doacross_start(unsigned ncounts, long* counts, long sched, long chunk,
                                            long* istart, long* iend, std::uintptr_t* reductions,
                                            void** mem) {
  return start_doacross(ncounts, counts, abi::plan_of(Thread::current(), sched, chunk_of(chunk)), istart,
                        iend, reductions, mem);
}

HEARTH_EXPORT bool GOMP_loop_ull_doacross_start(unsigned ncounts, unsigned long long* counts, long sched,
                                                unsigned long long chunk, unsigned long long* istart,
                                                unsigned long long* iend, std::uintptr_t* reductions,
                                                void** mem) {
  return start_doacross(ncounts, counts, abi::plan_of(Thread::current(), sched, chunk), istart, iend,
                        reductions, mem);
}

HEARTH_EXPORT void GOMP_loop_end() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  leave_loop(self);
  abi::name_barrier_after_work(self);
  hearth::rt::barrier(self);
}

HEARTH_EXPORT bool GOMP_loop_end_cancel() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  leave_loop(self);
  abi::name_barrier_after_work(self);
  return hearth::rt::barrier(self, true);
}

HEARTH_EXPORT void GOMP_loop_end_nowait() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  leave_loop(self);
}
