// All Thread objects of the process, by gtid.
//
// Objects are made under a lock, and recycled, never freed; the table's entries are written once. Any thread.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// As many Thread objects as there can be; no team is larger.
inline constexpr std::int32_t kMostThreads = 256 * 1024;

/// A Thread object for the calling thread, with a fresh gtid, entered in the table. Recycles those of threads
/// that ended.
Thread* make_thread_object();
/// The thread of the program is gone, with its threadprivate copies.
void retire_thread_object(Thread* thread);
/// No thread uses the object any more, or none has ever.
void recycle_thread_object(Thread* thread);
Thread* thread_by_gtid(std::int32_t gtid);
/// Calls visit(thread) for every Thread object that was ever made.
void for_each_thread(void (*visit)(Thread*, void*), void* context);
/// In a fork child, where the lock's holder may be gone.
void reset_thread_table();

}  // namespace hearth::rt
