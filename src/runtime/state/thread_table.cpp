#include "runtime/state/thread_table.h"

#include <cstdlib>
#include <new>

#include "base/assert.h"
#include "runtime/state/live.h"
#include "runtime/state/threadprivate.h"
#include "runtime/sync/lock.h"

namespace hearth::rt {
namespace {

constexpr int kTableChunk = 256;
constexpr int kTableChunks = kMostThreads / kTableChunk;

struct Table {
  Lock lock;
  Thread* recycled = nullptr;  // Thread objects without a thread, linked by next_idle
  std::int32_t next_gtid = 0;
  Thread** chunks[kTableChunks] = {};  // by gtid; entries are written once
};
constinit Table table;

}  // namespace

Thread* make_thread_object() {
  LockGuard guard(table.lock);
  if (Thread* thread = table.recycled) {
    table.recycled = thread->next_idle;
    thread->hired_as.store(nullptr, std::memory_order_relaxed);
    thread->bound_place = -1;
    thread->placed = 0;
    thread->is_root = false;
    return thread;
  }
  void* memory = nullptr;
  if (table.next_gtid == kMostThreads ||
      posix_memalign(&memory, alignof(Thread), sizeof(Thread)) != 0)
    return nullptr;
  auto* thread = new (memory) Thread;
  thread->gtid = table.next_gtid;
  Thread**& chunk = table.chunks[thread->gtid / kTableChunk];
  if (chunk == nullptr) chunk = static_cast<Thread**>(std::calloc(kTableChunk, sizeof(Thread*)));
  if (chunk == nullptr) {
    std::free(memory);
    return nullptr;
  }
  live_page::give_line(thread);
  chunk[thread->gtid % kTableChunk] = thread;
  ++table.next_gtid;
  return thread;
}

void retire_thread_object(Thread* thread) {
  destroy_threadprivate(thread);
  HEARTH_ASSERT(thread->team == nullptr && thread->slab.away_count == 0,
                "thread %d ends in a team, or with %d descriptors of others", thread->gtid, thread->slab.away_count);
  LockGuard guard(table.lock);
  thread->next_idle = table.recycled;
  table.recycled = thread;
}

Thread* thread_by_gtid(std::int32_t gtid) {
  if (gtid < 0 || gtid >= kMostThreads) return nullptr;
  Thread** chunk = table.chunks[gtid / kTableChunk];
  return chunk == nullptr ? nullptr : chunk[gtid % kTableChunk];
}

void for_each_thread(void (*visit)(Thread*, void*), void* context) {
  for (std::int32_t gtid = 0; gtid < table.next_gtid; ++gtid)
    if (Thread* thread = thread_by_gtid(gtid)) visit(thread, context);
}

void recycle_thread_object(Thread* thread) {
  LockGuard guard(table.lock);
  thread->next_idle = table.recycled;
  table.recycled = thread;
}

void reset_thread_table() { table.lock.reset(); }

}  // namespace hearth::rt
