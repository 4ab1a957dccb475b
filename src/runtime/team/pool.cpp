#include "runtime/team/pool.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>

#include <pthread.h>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/process/crash.h"
#include "runtime/process/threadprivate.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/sync/wait.h"
#include "runtime/team/fork.h"
#include "runtime/team/initial_task.h"
#include "runtime/tools/events.h"

namespace hearth::rt {
namespace {

constexpr int kTableChunk = 256;
constexpr int kTableChunks = 1024;
constexpr std::int64_t kRefusalNs = 1'000'000'000;

struct Pool {
  Lock lock;
  Thread* idle = nullptr;          // linked by next_idle
  Thread* recycled = nullptr;      // Thread objects without a thread
  std::int32_t started = 0;        // worker threads alive
  std::int64_t refused_until = 0;  // the system has refused a thread: do not ask again in every region
  std::int32_t next_gtid = 0;
  Thread** table[kTableChunks] = {};  // by gtid; entries are written once
};
constinit Pool pool;

// Under the lock. A thread that is entered twice makes the list a ring.
[[maybe_unused]] std::int32_t idle_threads() {
  std::int32_t count = 0;
  for (const Thread* thread = pool.idle; thread != nullptr && count <= pool.started; thread = thread->next_idle)
    ++count;
  return count;
}

// A worker's life: serve the teams that hire it, park in between, until it is retired.
void* worker_main(void* arg) {
  auto* self = static_cast<Thread*>(arg);
  tls_thread = self;
  void* signal_stack = make_signal_stack();
  if (events::active()) events::thread_begin(self, ompt_thread_worker);
  for (;;) {
    Member* member = nullptr;
    wait_until(self->parked, [&] {
      member = self->hired_as.load(std::memory_order_acquire);  // pairs with the release in hire()
      return member != nullptr || self->retire.load(std::memory_order_acquire);
    });
    if (member == nullptr) break;
    self->hired_as.store(nullptr, std::memory_order_relaxed);
    HEARTH_ASSERT(member->thread == self, "thread %d is hired for a slot that another has", self->gtid);
    serve_team(self, member);
    LockGuard guard(pool.lock);
    self->next_idle = pool.idle;
    pool.idle = self;
    HEARTH_ASSERT_STRUCTURE(idle_threads() <= pool.started, "%d threads are idle, %d are alive", idle_threads(),
                            pool.started);
  }
  if (events::active()) events::thread_end(self);
  drop_initial_team(self);
  drop_signal_stack(signal_stack);
  tls_thread = nullptr;
  LockGuard guard(pool.lock);
  self->retire.store(false, std::memory_order_relaxed);
  self->next_idle = pool.recycled;
  pool.recycled = self;
  --pool.started;
  HEARTH_ASSERT(pool.started >= 0, "%d worker threads are alive", pool.started);
  return nullptr;
}

// A thread with the signals of the program blocked: its handlers run on its own threads.
int start_thread(Thread* thread) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  if (process.stack_size != 0) {
    if (pthread_attr_setstacksize(&attr, process.stack_size) != 0)
      HEARTH_WARN_ONCE("OMP_STACKSIZE: the system refuses a stack of %zu bytes; using its default",
                       process.stack_size);
  }
  sigset_t all, old;
  sigfillset(&all);
  for (int fatal_signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fatal_signal);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  int error = pthread_create(&thread->handle, &attr, worker_main, thread);
  if (error == EINVAL && process.stack_size != 0) {
    HEARTH_WARN_ONCE(
        "OMP_STACKSIZE: a stack of %zu bytes is too small for this program's thread-local data; using the "
        "system's default",
        process.stack_size);
    process.stack_size = 0;
    std::size_t usual = 0;
    pthread_attr_t fresh;
    pthread_attr_init(&fresh);
    pthread_attr_getstacksize(&fresh, &usual);
    pthread_attr_destroy(&fresh);
    pthread_attr_setstacksize(&attr, usual);
    error = pthread_create(&thread->handle, &attr, worker_main, thread);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  pthread_attr_destroy(&attr);
  return error;
}

}  // namespace

Thread* make_thread_object() {
  LockGuard guard(pool.lock);
  if (Thread* thread = pool.recycled) {
    pool.recycled = thread->next_idle;
    thread->hired_as.store(nullptr, std::memory_order_relaxed);
    thread->bound_place = -1;
    thread->placed = 0;
    thread->is_root = false;
    return thread;
  }
  void* memory = nullptr;
  if (pool.next_gtid == kTableChunk * kTableChunks ||
      posix_memalign(&memory, alignof(Thread), sizeof(Thread)) != 0)
    return nullptr;
  auto* thread = new (memory) Thread;
  thread->gtid = pool.next_gtid;
  Thread**& chunk = pool.table[thread->gtid / kTableChunk];
  if (chunk == nullptr) chunk = static_cast<Thread**>(std::calloc(kTableChunk, sizeof(Thread*)));
  if (chunk == nullptr) {
    std::free(memory);
    return nullptr;
  }
  chunk[thread->gtid % kTableChunk] = thread;
  ++pool.next_gtid;
  return thread;
}

void retire_thread_object(Thread* thread) {
  destroy_threadprivate(thread);
  HEARTH_ASSERT(thread->team == nullptr && thread->slab.away_count == 0,
                "thread %d ends in a team, or with %d descriptors of others", thread->gtid, thread->slab.away_count);
  LockGuard guard(pool.lock);
  thread->next_idle = pool.recycled;
  pool.recycled = thread;
}

Thread* thread_by_gtid(std::int32_t gtid) {
  if (gtid < 0 || gtid >= kTableChunk * kTableChunks) return nullptr;
  Thread** chunk = pool.table[gtid / kTableChunk];
  return chunk == nullptr ? nullptr : chunk[gtid % kTableChunk];
}

void for_each_thread(void (*visit)(Thread*, void*), void* context) {
  for (std::int32_t gtid = 0; gtid < pool.next_gtid; ++gtid)
    if (Thread* thread = thread_by_gtid(gtid)) visit(thread, context);
}

bool hire(Member* member) {
  Thread* thread = nullptr;
  {
    LockGuard guard(pool.lock);
    thread = pool.idle;
    if (thread != nullptr) {
      pool.idle = thread->next_idle;
    } else {
      const std::int32_t limit = settings().device_thread_limit;
      if (limit > 0 && pool.started + 1 >= limit) {
        HEARTH_WARN_ONCE("KMP_DEVICE_THREAD_LIMIT=%d reached; teams are smaller than asked for", limit);
        return false;
      }
      if (pool.refused_until != 0) {
        if (now_ns() < pool.refused_until) return false;
        pool.refused_until = 0;
      }
      ++pool.started;
    }
  }
  const bool fresh = thread == nullptr;
  if (fresh && (thread = make_thread_object()) == nullptr) {
    LockGuard guard(pool.lock);
    --pool.started;
    return false;
  }
  HEARTH_ASSERT(thread->hired_as.load(std::memory_order_relaxed) == nullptr && thread->team == nullptr,
                "thread %d is hired, and has a place already", thread->gtid);
  member->thread = thread;
  thread->hired_as.store(member, std::memory_order_release);  // pairs with the acquire in worker_main()
  if (!fresh) {
    thread->parked.notify_one();
    return true;
  }
  const int error = start_thread(thread);
  if (error == 0) return true;
  HEARTH_WARN_ONCE(
      "the system refuses another thread (pthread_create: %s); teams are smaller than asked for, the program "
      "goes on. "
      "Limits: ulimit -u, the cgroup's pids.max, memory for stacks (OMP_STACKSIZE).",
      strerror(error));
  member->thread = nullptr;
  LockGuard guard(pool.lock);
  --pool.started;
  pool.refused_until = now_ns() + kRefusalNs;
  thread->next_idle = pool.recycled;
  pool.recycled = thread;
  return false;
}

void drain_pool() {
  std::int32_t before;
  {
    LockGuard guard(pool.lock);
    before = pool.started;
    for (Thread* thread = pool.idle; thread != nullptr; thread = thread->next_idle, --before) {
      thread->retire.store(true, std::memory_order_release);
      thread->parked.notify_one();
    }
    pool.idle = nullptr;
  }
  Spinner spinner;
  for (;;) {
    {
      LockGuard guard(pool.lock);
      if (pool.started <= before) return;
    }
    if (!spinner.turn()) yield_cpu();
  }
}

void forget_pool() {
  pool.lock.reset();
  pool.idle = nullptr;
  pool.started = 0;
}

}  // namespace hearth::rt
