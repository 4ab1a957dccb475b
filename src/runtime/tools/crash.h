// The last line of a program that crashes inside a parallel region: how to find out whether Hearth matters.
//
// Handlers are set for the fatal signals that nobody handles when the runtime starts, and only for those.
// They write one line and give the signal back to its default action, so that exit status and core file are
// what they would have been. A program that sets its own handlers later takes the signals over.
#pragma once

namespace hearth::rt {

/// From initialize().
void install_crash_handlers();
/// Whether the handler for this signal is still ours. A system call.
bool handles_crashes(int signal);

/// A signal stack for the calling thread, if it has none, so that the line appears after a stack overflow
/// too. Returns what drop_signal_stack() takes; null when there is nothing to drop.
void* make_signal_stack();
void drop_signal_stack(void* stack);

}  // namespace hearth::rt
