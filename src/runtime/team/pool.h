// Threads that Hearth started and that have no team now.
//
// hire() gives a team's slot a thread: one of the pool, else a new one. A pooled thread sleeps on its own
// EventCount. The list is under a lock; a Thread's `hired_as` is the message from the hirer.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// False when no thread is to be had: pthread_create refused, or the limit on threads is reached. Said once.
bool hire(Member* member);
/// End all pooled threads (omp_pause_resource_all, library unload). Returns when they have left.
void drain_pool();
/// In a fork child: the pooled threads do not exist.
void forget_pool();

/// A Thread object for the calling thread, with a fresh gtid, entered in the table. Recycles those of threads
/// that ended.
Thread* make_thread_object();
void retire_thread_object(Thread* thread);
Thread* thread_by_gtid(std::int32_t gtid);
/// Calls visit(thread) for every Thread object that was ever made.
void for_each_thread(void (*visit)(Thread*, void*), void* context);

}  // namespace hearth::rt
