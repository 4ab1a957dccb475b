// Clang's entry points for cancellation: translators to runtime/team/cancel.h. Any thread of the program.
#include <cstdint>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "runtime/team/barrier.h"
#include "runtime/team/cancel.h"
#include "runtime/tools/events.h"

using hearth::rt::CancelKind;
using hearth::rt::Thread;

namespace {

CancelKind kind_of(std::int32_t kind) {
  switch (kind) {
    case 1: return CancelKind::parallel;
    case 2: return CancelKind::loop;
    case 3: return CancelKind::sections;
    default: return CancelKind::taskgroup;
  }
}

}  // namespace

HEARTH_EXPORT std::int32_t __kmpc_cancel(ident_t*, std::int32_t, std::int32_t kind) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return hearth::rt::cancel(self, kind_of(kind));
}

HEARTH_EXPORT std::int32_t __kmpc_cancellationpoint(ident_t*, std::int32_t, std::int32_t kind) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return hearth::rt::cancellation_point(self, kind_of(kind));
}

HEARTH_EXPORT std::int32_t __kmpc_cancel_barrier(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return hearth::rt::barrier(self, true);
}
