// GCC's entry points for cancellation: translators to runtime/team/cancel.h. Any thread of the program.
#include "abi/export.h"
#include "runtime/team/barrier.h"
#include "runtime/team/cancel.h"
#include "runtime/tools/events.h"

using hearth::rt::CancelKind;
using hearth::rt::Thread;

namespace {

CancelKind kind_of(int which) {
  switch (which) {
    case 1: return CancelKind::parallel;
    case 2: return CancelKind::loop;
    case 4: return CancelKind::sections;
    default: return CancelKind::taskgroup;
  }
}

}  // namespace

HEARTH_EXPORT bool GOMP_cancel(int which, bool do_cancel) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  // An if clause that is false leaves a cancellation point.
  return do_cancel ? hearth::rt::cancel(self, kind_of(which))
                   : hearth::rt::cancellation_point(self, kind_of(which));
}

HEARTH_EXPORT bool GOMP_cancellation_point(int which) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return hearth::rt::cancellation_point(self, kind_of(which));
}

HEARTH_EXPORT bool GOMP_barrier_cancel() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return hearth::rt::barrier(self, true);
}
