// gcc's combined constructs: a parallel region whose members are inside a loop, or sections, from the start.
//
// The region's function is begin_and_run() here, which begins the construct for its member and calls the
// program's. The old forms (GOMP_parallel_loop_*_start, until GCC 4.9) return to the program, which runs the
// primary thread's share itself; what the workers need is then kept in the slot of the member that forked,
// who can fork nothing else before GOMP_parallel_end.
#include <cstdint>
#include <cstring>

#include "abi/export.h"
#include "abi/gomp/loop.h"
#include "abi/work_events.h"
#include "runtime/state/region.h"
#include "runtime/team/fork.h"

using hearth::abi::chunk_of;
using hearth::abi::GompLoop;
using hearth::abi::plain_plan;
using hearth::abi::RuntimeForm;
using hearth::rt::LoopPlan;
using hearth::rt::LoopState;
using hearth::rt::Region;
using hearth::rt::ScheduleKind;
using hearth::rt::Thread;
namespace abi = hearth::abi;

namespace {

struct Combined {
  void (*function)(void*);
  void* data;
  GompLoop loop;
  LoopPlan plan;
  bool is_sections;
};
static_assert(sizeof(Combined) <= sizeof(LoopState::combined));

void begin(Thread* self, const Combined& what) {
  if (what.is_sections) {
    hearth::rt::begin_sections(self, what.loop.trip);
    abi::begin_work(self, ompt_work_sections, what.loop.trip);
  } else {
    LoopPlan plan = what.plan;
    plan.site = reinterpret_cast<const void*>(what.function);
    abi::begin_gomp_loop(self, what.loop, plan);
  }
}

void begin_and_run(void* data) {
  const auto* what = static_cast<const Combined*>(data);
  begin(Thread::current(), *what);
  what->function(what->data);
}

Region region_of(Combined* what, unsigned num_threads, unsigned flags) {
  Region region;
  region.function = reinterpret_cast<void*>(&begin_and_run);
  region.data = what;
  region.num_threads = static_cast<std::int32_t>(num_threads);
  region.proc_bind = static_cast<std::int32_t>(flags & 7);
  return region;
}

// `codeptr` and `frame` of the entry point, which stays on the stack around this.
void fork_and_join(Combined what, unsigned num_threads, unsigned flags, void* codeptr, void* frame) {
  Thread* self = Thread::current();
  hearth::rt::events::Entry entry(self, codeptr, frame);
  hearth::rt::parallel(self, region_of(&what, num_threads, flags));
}

void fork_only(const Combined& what, unsigned num_threads, void* codeptr, void* frame) {
  Thread* self = Thread::current();
  hearth::rt::events::Entry entry(self, codeptr, frame);
  auto* kept = reinterpret_cast<Combined*>(self->member->loop.combined);
  std::memcpy(static_cast<void*>(kept), &what, sizeof what);
  hearth::rt::begin_region(self, region_of(kept, num_threads, 0));
  if (hearth::rt::events::active()) hearth::rt::events::enter_user_code(self->task, frame);
  begin(self, *kept);
}

}  // namespace

#define HERE __builtin_return_address(0), __builtin_frame_address(0)

#define PARALLEL_LOOP(infix, kind, monotonic)                                                                \
  HEARTH_EXPORT void GOMP_parallel_loop_##infix(void (*fn)(void*), void* data, unsigned num_threads,         \
                                                long from, long to, long incr, long chunk, unsigned flags) { \
    fork_and_join({fn, data, GompLoop::of(from, to, incr),                                                   \
                   plain_plan(ScheduleKind::kind, chunk_of(chunk), monotonic), false},                       \
                  num_threads, flags, HERE);                                                                 \
  }

#define PARALLEL_LOOP_START(infix, kind)                                                                     \
  HEARTH_EXPORT void GOMP_parallel_loop_##infix##_start(void (*fn)(void*), void* data, unsigned num_threads, \
                                                        long from, long to, long incr, long chunk) {         \
    fork_only({fn, data, GompLoop::of(from, to, incr),                                                       \
               plain_plan(ScheduleKind::kind, chunk_of(chunk), true), false},                                \
              num_threads, HERE);                                                                            \
  }

#define PARALLEL_LOOP_RUNTIME(infix, form)                                                           \
  HEARTH_EXPORT void GOMP_parallel_loop_##infix(void (*fn)(void*), void* data, unsigned num_threads, \
                                                long from, long to, long incr, unsigned flags) {     \
    fork_and_join({fn, data, GompLoop::of(from, to, incr),                                           \
                   abi::runtime_plan(Thread::current(), RuntimeForm::form), false},                  \
                  num_threads, flags, HERE);                                                         \
  }

PARALLEL_LOOP(static, static_, true)
PARALLEL_LOOP(dynamic, dynamic, true)
PARALLEL_LOOP(guided, guided, true)
PARALLEL_LOOP(nonmonotonic_dynamic, dynamic, false)
PARALLEL_LOOP(nonmonotonic_guided, guided, false)
PARALLEL_LOOP_START(static, static_)
PARALLEL_LOOP_START(dynamic, dynamic)
PARALLEL_LOOP_START(guided, guided)
PARALLEL_LOOP_RUNTIME(runtime, monotonic)
PARALLEL_LOOP_RUNTIME(nonmonotonic_runtime, nonmonotonic)
PARALLEL_LOOP_RUNTIME(maybe_nonmonotonic_runtime, maybe)

HEARTH_EXPORT void GOMP_parallel_loop_runtime_start(void (*fn)(void*), void* data, unsigned num_threads,
                                                    long from, long to, long incr) {
  fork_only({fn, data, GompLoop::of(from, to, incr),
             abi::runtime_plan(Thread::current(), RuntimeForm::monotonic), false},
            num_threads, HERE);
}

HEARTH_EXPORT void GOMP_parallel_sections(void (*fn)(void*), void* data, unsigned num_threads, unsigned count,
                                          unsigned flags) {
  fork_and_join({fn, data, {0, count, 1, count}, {}, true}, num_threads, flags, HERE);
}

HEARTH_EXPORT void GOMP_parallel_sections_start(void (*fn)(void*), void* data, unsigned num_threads,
                                                unsigned count) {
  fork_only({fn, data, {0, count, 1, count}, {}, true}, num_threads, HERE);
}
