// A thread's share of a region, and the life of a worker: hired by a team, it runs its share of each region until it is dismissed.
//
// Called by the thread `self` on its own behalf. The fork word (state/fork_word.h) is its only message from the primary thread.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// The caller's own share of the current region.
void run_share(Thread* self, const ForkLine& line);
/// What a new worker thread runs (pthread_create); `thread` is its Thread object.
void* worker_main(void* thread);

}  // namespace hearth::rt
