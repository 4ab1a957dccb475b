// gcc's entry points for single, and what other constructs share among the members: copyprivate, scope,
// memory of loops. Each member of the team for itself.
#include <cstdint>

#include "abi/export.h"
#include "abi/gomp/loop.h"
#include "abi/work_events.h"
#include "runtime/team/barrier.h"
#include "runtime/tools/events.h"
#include "runtime/loop/single.h"
#include "runtime/loop/workshare.h"

using hearth::rt::LoopState;
using hearth::rt::Thread;
namespace events = hearth::rt::events;

namespace {

// gcc has no call at the end of a single construct, so a tool hears of both ends here.
bool told(Thread* self, bool mine) {
  if (events::active()) {
    const ompt_work_t kind = mine ? ompt_work_single_executor : ompt_work_single_other;
    events::work_begin(self, kind, 1);
    events::work_end(self, kind, 1);
  }
  return mine;
}

}  // namespace

HEARTH_EXPORT bool GOMP_single_start() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return told(self, hearth::rt::single_begin(self));
}

// Null: the caller runs the construct and tells the others the data by GOMP_single_copy_end(). The program
// has a barrier after the others have copied.
HEARTH_EXPORT void* GOMP_single_copy_start() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  if (told(self, hearth::rt::single_begin(self))) return nullptr;
  hearth::abi::name_barrier_after_work(self);
  hearth::rt::barrier(self);
  return self->team->copyprivate.load(std::memory_order_relaxed);  // the barrier orders it
}

HEARTH_EXPORT void GOMP_single_copy_end(void* data) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::count_shared_write();
  self->team->copyprivate.store(data, std::memory_order_relaxed);  // the barrier orders it
  hearth::abi::name_barrier_after_work(self);
  hearth::rt::barrier(self);
}
