// `hearth check`: what each task with a footprint touches, written down beside what the footprint says.
//
// On when HEARTH_CHECK names a folder: then all regions run on one thread, footprints are made although there
// is nowhere to deal tasks to, and each process writes a file of its own there, named after its number. One
// JSON object a line:
//   {"module": path, "offset": of the task's function in it, "blind": 0 or 1,
//    "ranges": [[begin, row bytes, rows, pitch, access, inferred]...],
//    "touched": [[first page, pages, bits]...]}                           for each task that had a footprint
//   {"without": tasks without one, "unwatched": tasks that ran while another thread's was watched,
//    "system_calls": 0 or 1}
// Bits: 1 written, 2 others' objects may share the pages, 4 hidden by the runtime's own accesses (page_watch.h).
// The command line compares and judges (cli/check.cpp).
//
// Called behind events::active(), by the thread that runs the task. One thread's tasks are watched at a time.
// A task that is met inside of another interrupts that one's window: both have what they touched themselves.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt::check {

/// Constant once the runtime is initialized.
extern bool on;

/// From initialize(); does nothing without HEARTH_CHECK.
void start();
/// Around each explicit task's body.
void task_begin(Thread* self, Task* task);
void task_end(Thread* self);
/// Memory of the runtime's own, which tasks touch when they make tasks.
void leave_out(void* begin, std::size_t bytes);
/// The process ends.
void finish();

}  // namespace hearth::rt::check
