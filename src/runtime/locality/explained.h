// Dealing, told to those who want to know of it: the decision log, and who explains (tools/explain.h).
//
// Called by the member `self` on its own behalf.
#pragma once

#include "policy/decision_text.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// Tasks about which nobody asks are told from now on, too. From initialize(), before any region.
void explain_dealing();
/// The policy was asked about the task. Behind events::active().
[[gnu::cold]] void tell_decision(Thread* self, Task* task, const policy::Decision& decision);
/// The task has ended and still has its footprint: where its bytes are, if the policy was not asked.
[[gnu::cold]] void tell_bytes_at_end(Task* task);

}  // namespace hearth::rt
