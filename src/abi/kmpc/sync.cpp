// clang's single, masked, copyprivate, scope, flush and split barriers: translators to the core. Each member
// of the team for itself; the thread knows who it is, so `gtid` is ignored.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "abi/work_events.h"
#include "runtime/team/barrier.h"
#include "runtime/tools/events.h"
#include "runtime/loop/single.h"

using hearth::rt::Thread;
namespace events = hearth::rt::events;

namespace {

std::int32_t begin_masked(Thread* self, std::int32_t who) {
  if (self->tid != who) return 0;
  if (events::active()) events::masked(self, ompt_scope_begin);
  return 1;
}

void end_masked(Thread* self) {
  if (events::active()) events::masked(self, ompt_scope_end);
}

}  // namespace

HEARTH_EXPORT std::int32_t __kmpc_single(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const bool mine = hearth::rt::single_begin(self);
  if (events::active()) {
    if (mine) {
      events::work_begin(self, ompt_work_single_executor, 1);
    } else {
      events::work_begin(self, ompt_work_single_other, 1);
      events::work_end(self, ompt_work_single_other, 1);
    }
  }
  return mine;
}

HEARTH_EXPORT void __kmpc_end_single(ident_t*, std::int32_t) {
  if (!events::active()) return;
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  events::work_end(self, ompt_work_single_executor, 1);
}

HEARTH_EXPORT std::int32_t __kmpc_master(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return begin_masked(self, 0);
}

HEARTH_EXPORT void __kmpc_end_master(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  end_masked(self);
}

HEARTH_EXPORT std::int32_t __kmpc_masked(ident_t*, std::int32_t, std::int32_t filter) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return begin_masked(self, filter);
}

HEARTH_EXPORT void __kmpc_end_masked(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  end_masked(self);
}

// The member that ran the single construct (`ran_it`) gives its data, the others copy. The second barrier
// keeps the data alive until all have.
HEARTH_EXPORT void __kmpc_copyprivate(ident_t*, std::int32_t, std::size_t, void* data,
                                      void (*copy)(void*, void*), std::int32_t ran_it) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  std::atomic<void*>& shared = self->team->copyprivate;
  if (ran_it != 0) {
    hearth::rt::count_shared_write();
    shared.store(data, std::memory_order_relaxed);  // the barrier orders it
  }
  hearth::abi::name_barrier_after_work(self);
  hearth::rt::barrier(self);
  if (ran_it == 0) copy(data, shared.load(std::memory_order_relaxed));
  hearth::abi::name_barrier_after_work(self);
  hearth::rt::barrier(self);
}

/// The same for one pointer, which the program copies from itself; its own barrier follows.
HEARTH_EXPORT void* __kmpc_copyprivate_light(ident_t*, std::int32_t, void* data) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  if (data != nullptr) {
    hearth::rt::count_shared_write();
    self->team->copyprivate.store(data, std::memory_order_relaxed);  // the barrier orders it
  }
  hearth::abi::name_barrier_after_work(self);
  hearth::rt::barrier(self);
  return self->team->copyprivate.load(std::memory_order_relaxed);
}

HEARTH_EXPORT void __kmpc_scope(ident_t*, std::int32_t, void*) {
  if (!events::active()) return;
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  events::work_begin(self, ompt_work_scope, 1);
}

HEARTH_EXPORT void __kmpc_end_scope(ident_t*, std::int32_t, void*) {
  if (!events::active()) return;
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  events::work_end(self, ompt_work_scope, 1);
}

HEARTH_EXPORT void __kmpc_flush(ident_t*) {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // OpenMP's strong flush; pairs with the program's own
  if (!events::active()) return;
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  events::flush(self);
}

HEARTH_EXPORT void __kmpc_flush_explicit(ident_t* where) { __kmpc_flush(where); }

// A barrier during which the primary thread (answer 1) does something while the others wait.
HEARTH_EXPORT std::int32_t __kmpc_barrier_master(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::barrier(self);
  if (self->tid == 0) return 1;
  hearth::rt::barrier(self);
  return 0;
}

HEARTH_EXPORT void __kmpc_end_barrier_master(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::barrier(self);
}

HEARTH_EXPORT std::int32_t __kmpc_barrier_master_nowait(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::barrier(self);
  return begin_masked(self, 0);
}
