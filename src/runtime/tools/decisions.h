// HEARTH_LOG_DECISIONS: every decision of the policy where a task goes, in a file (policy/decision_text.h).
//
// Behind events::active() or off a path that takes longer anyway, so that it costs nothing when it is off.
// note() may be called by any thread; a lock makes lines whole. A line is written at once: a process that is
// killed loses none. The file is opened at the first decision, so that processes that never decide anything
// leave it alone, and is no longer than DecisionBudget::kMost. A child by fork() that executes nothing else
// writes nothing.
#pragma once

#include "policy/decision_text.h"
#include "runtime/state/thread.h"

namespace hearth::rt::decisions {

/// Constant once the runtime is initialized.
extern bool on;

/// From initialize(), when it is known whether tasks are dealt.
void start();
/// As the task is made, by the thread that runs `parent`.
void number(Task* parent, Task* task);
/// As an implicit task begins.
void number_implicit(Thread* self);
/// What the policy was shown of the task, and what it answered. `task` and `construct` are filled in here.
[[gnu::cold]] void note(const Task* task, const policy::MachineView& view, policy::Decision decision);
/// The process ends.
void finish();

}  // namespace hearth::rt::decisions
