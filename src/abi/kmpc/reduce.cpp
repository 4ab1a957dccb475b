// clang's reductions: translators to runtime/loop/reduction.h. Each member of the team for itself.
//
// 1: combine into the variables, then call the end; 2: use the atomic updates (nowait: no end follows); 0:
// nothing to do.
#include <cstddef>
#include <cstdint>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "runtime/team/barrier.h"
#include "runtime/tools/events.h"
#include "runtime/sync/lock.h"
#include "runtime/loop/reduction.h"

using hearth::rt::Lock;
using hearth::rt::ReduceStep;
using hearth::rt::Thread;
namespace events = hearth::rt::events;

namespace {

constexpr std::int32_t kHasAtomic =
    0x10;  // in ident_t::flags: the program has atomic updates for this reduction

// Zeroed storage of 32 bytes, shared by name; its first four are the lock.
Lock& lock_of(std::int32_t* name) { return *reinterpret_cast<Lock*>(name); }

ReduceStep begin(Thread* self, ident_t* where, void* data, void (*combine)(void*, void*),
                 std::int32_t* name) {
  if (events::active()) events::reduction_begin(self);
  const bool has_atomic = where != nullptr && (where->flags & kHasAtomic) != 0;
  const ReduceStep step = hearth::rt::reduce_begin(self, data, combine, lock_of(name), has_atomic);
  if (events::active() && step == ReduceStep::nothing) events::reduction_end(self);
  return step;
}

void name_barrier(Thread* self) {
  if (events::active()) events::set_barrier_kind(self, ompt_sync_region_barrier_implementation);
}

}  // namespace

HEARTH_EXPORT std::int32_t __kmpc_reduce_nowait(ident_t* where, std::int32_t, std::int32_t, std::size_t,
                                                void* data, void (*combine)(void*, void*),
                                                std::int32_t* name) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const ReduceStep step = begin(self, where, data, combine, name);
  if (events::active() && step == ReduceStep::update_atomically) events::reduction_end(self);
  return static_cast<std::int32_t>(step);
}

HEARTH_EXPORT void __kmpc_end_reduce_nowait(ident_t*, std::int32_t, std::int32_t* name) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::reduce_end(self, lock_of(name));
  if (events::active()) events::reduction_end(self);
}

HEARTH_EXPORT std::int32_t __kmpc_reduce(ident_t* where, std::int32_t, std::int32_t, std::size_t, void* data,
                                         void (*combine)(void*, void*), std::int32_t* name) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const ReduceStep step = begin(self, where, data, combine, name);
  if (step == ReduceStep::nothing) {
    name_barrier(self);
    hearth::rt::barrier(self);
  }
  return static_cast<std::int32_t>(step);
}

HEARTH_EXPORT void __kmpc_end_reduce(ident_t*, std::int32_t, std::int32_t* name) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::reduce_end(self, lock_of(name));
  if (events::active()) events::reduction_end(self);
  name_barrier(self);
  hearth::rt::barrier(self);
}
