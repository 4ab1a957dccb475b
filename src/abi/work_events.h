// Telling a tool of worksharing constructs: one begin and one end per member and construct, whatever way it
// leaves.
//
// LoopState::work remembers what was begun, so that the end matches, and a construct that was left without a
// word (cancelled) is ended before the next begins. By the member, behind one load of events::active().
#pragma once

#include <cstdint>

#include "runtime/state/thread.h"
#include "runtime/tools/events.h"
#include "runtime/loop/loop.h"

namespace hearth::abi {

inline void end_work(rt::Thread* self) {
  if (!rt::events::active()) return;
  rt::LoopState& loop = self->member->loop;
  if (loop.work == 0) return;
  const auto kind = static_cast<ompt_work_t>(loop.work);
  loop.work = 0;
  rt::events::work_end(self, kind, loop.told);
}

inline void begin_work(rt::Thread* self, ompt_work_t kind, std::uint64_t count) {
  if (!rt::events::active()) return;
  end_work(self);
  self->member->loop.work = kind;
  self->member->loop.told = count;
  rt::events::work_begin(self, kind, count);
}

/// The member is about to run `iterations` of the construct that was begun; `start` is the loop variable's
/// value in the first of them.
[[gnu::cold]] inline void tell_chunk(rt::Thread* self, std::uint64_t start, std::uint64_t iterations) {
  ompt_dispatch_chunk_t chunk{start, iterations};
  ompt_data_t instance;
  instance.ptr = &chunk;
  rt::events::dispatch(self,
                       self->member->loop.work == ompt_work_distribute ? ompt_dispatch_distribute_chunk
                                                                       : ompt_dispatch_ws_loop_chunk,
                       instance);
}

/// The same of a section, which has no number there but the address that asked for it.
[[gnu::cold]] inline void tell_section(rt::Thread* self) {
  ompt_data_t instance;
  instance.ptr = self->ompt_codeptr;
  rt::events::dispatch(self, ompt_dispatch_section, instance);
}

inline ompt_work_t work_kind(const rt::LoopPlan& plan) {
  switch (plan.kind) {
    case rt::ScheduleKind::static_: return ompt_work_loop_static;
    case rt::ScheduleKind::dynamic: return ompt_work_loop_dynamic;
    case rt::ScheduleKind::guided: return ompt_work_loop_guided;
    case rt::ScheduleKind::automatic: break;
  }
  return ompt_work_loop_other;
}

/// The implicit barrier at the end of a worksharing construct.
inline void name_barrier_after_work(rt::Thread* self) {
  if (rt::events::active()) rt::events::set_barrier_kind(self, ompt_sync_region_barrier_implicit_workshare);
}

}  // namespace hearth::abi
