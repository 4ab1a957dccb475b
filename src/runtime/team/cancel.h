// Cancellation of parallel regions, worksharing constructs and taskgroups (OpenMP 5.2, section 11.6).
//
// Any thread of the team. A cancelled region stays cancelled until its primary thread begins the next one.
// Tasks that have not started are dropped by run_task(). Nothing happens unless OMP_CANCELLATION is true.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

enum class CancelKind : std::uint8_t { parallel, loop, sections, taskgroup };

/// `cancel`: true when the construct is now cancelled, and the caller goes to its end.
bool cancel(Thread* self, CancelKind kind);
/// `cancellation point`: whether it has been.
bool cancellation_point(Thread* self, CancelKind kind);

}  // namespace hearth::rt
