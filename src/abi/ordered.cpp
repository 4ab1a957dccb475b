// The ordered construct, for both compilers: translators to runtime/loop/ordered.h. Each member of the team for
// itself.
#include <cstdint>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "runtime/tools/events.h"
#include "runtime/loop/ordered.h"

using hearth::rt::Thread;
namespace events = hearth::rt::events;

namespace {

void begin(Thread* self) {
  const void* lock = self->member->loop.share;
  if (events::active()) events::mutex_acquire(self, ompt_mutex_ordered, 0, lock);
  hearth::rt::ordered_begin(self);
  if (events::active()) events::mutex_acquired(self, ompt_mutex_ordered, lock);
}

void end(Thread* self) {
  const void* lock = self->member->loop.share;
  hearth::rt::ordered_end(self);
  if (events::active()) events::mutex_released(self, ompt_mutex_ordered, lock);
}

}  // namespace

HEARTH_EXPORT void GOMP_ordered_start() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  begin(self);
}

HEARTH_EXPORT void GOMP_ordered_end() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  end(self);
}

HEARTH_EXPORT void __kmpc_ordered(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  begin(self);
}

HEARTH_EXPORT void __kmpc_end_ordered(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  end(self);
}
