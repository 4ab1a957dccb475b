// Threads that Hearth started and that have no team now.
//
// hire() gives a team's slot a thread: one of the pool, else a new one. A pooled thread sleeps on its own
// EventCount. The list is under a lock; a Thread's `hired_as` is the message from the hirer.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// Gives the slot a thread: a parked one, else a new one that runs `worker` and begins in the crowd (crowd.h) counted from the
/// CPU `made_on`; -1: where the kernel puts it. False when no thread is to be had: pthread_create refused, or the limit on
/// threads is reached. Said once.
bool hire(Member* member, void* (*worker)(void*), std::int32_t made_on);
/// The worker has no team now. It is hired again by way of Thread::hired_as.
void park(Thread* thread);
/// The worker ends.
void leave_pool(Thread* thread);
/// End all pooled threads (omp_pause_resource_all, library unload). Returns when they have left.
void drain_pool();
/// In a fork child: of the worker threads there is only the caller, if it is one.
void forget_pool();

}  // namespace hearth::rt
