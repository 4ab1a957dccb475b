// Where a task's bytes are and what the policy made of that, told to a tool that asks (hearth/ompt.h).
//
// Behind events::active(), by the thread that deals or has run the task.
#pragma once

#include "base/cpu.h"
#include "hearth/ompt.h"
#include "policy/decision_text.h"
#include "runtime/state/thread.h"

namespace hearth::rt::told_bytes {

/// Written by the tool's initializer, before the program's first region; null: nobody asks.
extern hearth_ompt_callback_decision_t callback;
inline bool wanted() { return HEARTH_UNLIKELY(callback != nullptr); }

/// The policy has answered, for this reason.
void decided(Task* task, const policy::Decision& decision, policy::Why why);
/// The task has ended, and its bytes are here.
void ended(Task* task, const placement::Need& need);

}  // namespace hearth::rt::told_bytes
