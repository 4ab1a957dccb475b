#include "runtime/team/pool.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>

#include <pthread.h>
#include <sched.h>

#include "base/assert.h"
#include "base/log.h"
#include "policy/tuning.h"
#include "runtime/bubbles/seats.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/state/thread_table.h"
#include "runtime/sync/wait.h"

namespace hearth::rt {
namespace {

struct Pool {
  Lock lock;
  Thread* idle = nullptr;          // linked by next_idle
  std::int32_t started = 0;        // worker threads alive
  std::int64_t refused_until = 0;  // the system has refused a thread: do not ask again in every region
};
constinit Pool pool;

// Under the lock. A thread that is entered twice makes the list a ring.
[[maybe_unused]] std::int32_t idle_threads() {
  std::int32_t count = 0;
  for (const Thread* thread = pool.idle; thread != nullptr && count <= pool.started; thread = thread->next_idle)
    ++count;
  return count;
}

// Under the lock.
bool may_start_one_more() {
  return pool.started + 1 < contention.cpus && settings().device_thread_limit <= 0 && pool.refused_until == 0;
}

// Under the lock. A thread that is where the new member will be: its stack and its slabs are there. Else any, unless there are
// CPUs for more threads; null: none.
Thread* take_idle(placement::Location wanted) {
  Thread** link = &pool.idle;
  if (wanted >= 0) {
    while (*link != nullptr && location_of_seat((*link)->bound_seat) != wanted) link = &(*link)->next_idle;
    if (*link == nullptr && may_start_one_more()) return nullptr;
    if (*link == nullptr) link = &pool.idle;
  }
  Thread* thread = *link;
  if (thread != nullptr) *link = thread->next_idle;
  return thread;
}

// On the CPUs of its seat from the first moment, or the stack would be elsewhere.
void give_seat(pthread_attr_t* attr, Thread* thread, std::int32_t seat) {
  unsigned long mask[1024 / sizeof(unsigned long)];
  const std::size_t bytes = mask_of_seat(seat, mask, sizeof mask);
  if (bytes == 0) return;
  if (pthread_attr_setaffinity_np(attr, bytes, reinterpret_cast<const cpu_set_t*>(mask)) == 0) thread->bound_seat = seat;
}

// A thread with the signals of the program blocked: its handlers run on its own threads.
int start_thread(Thread* thread, std::int32_t seat, void* (*worker)(void*)) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  thread->bound_seat = placement::kNoPlace;
  if (seat >= 0) give_seat(&attr, thread, seat);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  if (process.stack_size != 0) {
    if (pthread_attr_setstacksize(&attr, process.stack_size) != 0)
      HEARTH_WARN_ONCE("OMP_STACKSIZE: the system refuses stacks of %zu bytes; using its default.",
                       process.stack_size);
  }
  sigset_t all, old;
  sigfillset(&all);
  for (int fatal_signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fatal_signal);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  int error = pthread_create(&thread->handle, &attr, worker, thread);
  if (error == EINVAL && process.stack_size != 0) {
    HEARTH_WARN_ONCE(
        "OMP_STACKSIZE: a stack of %zu bytes is too small for this program's thread-local data; using the system's default.",
        process.stack_size);
    process.stack_size = 0;
    pthread_attr_setstacksize(&attr, stack_size_of_threads());
    error = pthread_create(&thread->handle, &attr, worker, thread);
  }
  if (error == EINVAL && thread->bound_seat >= 0) {  // its CPUs are no longer ours
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    return start_thread(thread, placement::kNoPlace, worker);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  pthread_attr_destroy(&attr);
  return error;
}

}  // namespace

bool hire(Member* member, void* (*worker)(void*), std::int32_t made_on) {
  Thread* thread = nullptr;
  {
    LockGuard guard(pool.lock);
    thread = take_idle(location_of_seat(member->seat));
    if (thread == nullptr) {
      const std::int32_t limit = settings().device_thread_limit;
      if (limit > 0 && pool.started + 1 >= limit) {
        HEARTH_WARN_ONCE("KMP_DEVICE_THREAD_LIMIT=%d is reached; teams are smaller than requested.", limit);
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
  if (fresh) thread->made_on = made_on;
  member->thread = thread;
  thread->hired_as.store(member, std::memory_order_release);  // pairs with the acquire in worker_main() (worker.cpp)
  if (!fresh) {
    thread->parked.notify_one();
    return true;
  }
  const int error = start_thread(thread, member->seat, worker);
  if (error == 0) return true;
  HEARTH_WARN_ONCE(
      "cannot start another thread (pthread_create: %s). The program goes on with smaller teams. "
      "Limits: ulimit -u, the cgroup's pids.max, memory for stacks (OMP_STACKSIZE).",
      strerror(error));
  member->thread = nullptr;
  LockGuard guard(pool.lock);
  --pool.started;
  pool.refused_until = now_ns() + tuning::kRefusalNs;
  recycle_thread_object(thread);
  return false;
}

void park(Thread* thread) {
  LockGuard guard(pool.lock);
  thread->next_idle = pool.idle;
  pool.idle = thread;
  HEARTH_ASSERT_STRUCTURE(idle_threads() <= pool.started, "%d threads are idle, %d are alive", idle_threads(),
                          pool.started);
}

void leave_pool(Thread* thread) {
  LockGuard guard(pool.lock);
  thread->retire.store(false, std::memory_order_relaxed);
  recycle_thread_object(thread);
  --pool.started;
  HEARTH_ASSERT(pool.started >= 0, "%d worker threads are alive", pool.started);
}

void drain_pool() {
  std::int32_t before;
  {
    LockGuard guard(pool.lock);
    before = pool.started;
    for (Thread* thread = pool.idle; thread != nullptr; thread = thread->next_idle, --before) {
      thread->retire.store(true, std::memory_order_release);  // pairs with the acquire in worker_main()
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
  const Thread* self = Thread::current_or_null();
  pool.started = self != nullptr && !self->is_root ? 1 : 0;
}

}  // namespace hearth::rt
