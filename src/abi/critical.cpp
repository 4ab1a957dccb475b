// Critical sections and the lock of last resort for atomic updates.
//
// Any thread. Named sections lock inside the storage that the compiler makes for the name: gcc a pointer,
// clang 32 bytes, both zeroed, both shared by name between the objects of a program; so the first four bytes
// are the lock, and nothing is allocated. gcc's unnamed section has no storage and uses the one here. With an
// OMPT tool the traced forms, out of line, do the same and tell the tool.
#include <pthread.h>

#include "abi/atomic_lock.h"
#include "abi/export.h"
#include "runtime/tools/events.h"
#include "runtime/sync/lock.h"

namespace hearth::abi {
constinit AtomicLock atomic_lock;
}

// Where the program called, for a tool. The CFA, not the frame address, which would cost every call a frame
// pointer.
#define HERE __builtin_return_address(0), __builtin_dwarf_cfa()

namespace {

using hearth::abi::atomic_lock;
using hearth::rt::Lock;
using hearth::rt::Thread;
namespace events = hearth::rt::events;

struct alignas(hearth::kCacheLinePair) UnnamedCritical {
  Lock lock;
};
constinit UnnamedCritical unnamed;

// The child of a fork has one thread. If another held one of these locks, nobody would ever unlock it; if it
// is the forking thread's, its unlock finds a free lock (unlock_unless_free). Locks in the program's storage
// are the program's own affair.
void forget_holders() {
  unnamed.lock.reset();
  atomic_lock.lock.reset();
}

// At load, because a program may use them without ever starting the runtime.
[[gnu::constructor]] void watch_forks() { pthread_atfork(nullptr, nullptr, forget_holders); }

Lock& named(void* storage) { return *static_cast<Lock*>(storage); }

[[gnu::cold, gnu::noinline]] void traced_enter(Lock& lock, ompt_mutex_t kind, unsigned hint, void* from,
                                               void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  events::mutex_acquire(self, kind, hint, &lock);
  lock.lock();
  events::mutex_acquired(self, kind, &lock);
}

[[gnu::cold, gnu::noinline]] void traced_leave(Lock& lock, ompt_mutex_t kind, void* from, void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  lock.unlock_unless_free();
  events::mutex_released(self, kind, &lock);
}

}  // namespace

#define ENTER(lock_expression, kind, hint)                                      \
  if (events::active()) return traced_enter(lock_expression, kind, hint, HERE); \
  (lock_expression).lock()
#define LEAVE(lock_expression, kind)                                      \
  if (events::active()) return traced_leave(lock_expression, kind, HERE); \
  (lock_expression).unlock()
#define LEAVE_OWN(lock_expression, kind)                                  \
  if (events::active()) return traced_leave(lock_expression, kind, HERE); \
  (lock_expression).unlock_unless_free()

HEARTH_EXPORT void GOMP_critical_start() { ENTER(unnamed.lock, ompt_mutex_critical, 0); }
HEARTH_EXPORT void GOMP_critical_end() { LEAVE_OWN(unnamed.lock, ompt_mutex_critical); }
HEARTH_EXPORT void GOMP_critical_name_start(void* name) { ENTER(named(name), ompt_mutex_critical, 0); }
HEARTH_EXPORT void GOMP_critical_name_end(void* name) { LEAVE(named(name), ompt_mutex_critical); }

HEARTH_EXPORT void __kmpc_critical(void*, int, void* name) { ENTER(named(name), ompt_mutex_critical, 0); }
HEARTH_EXPORT void __kmpc_critical_with_hint(void*, int, void* name, std::uint32_t hint) {
  ENTER(named(name), ompt_mutex_critical, hint);
}
HEARTH_EXPORT void __kmpc_end_critical(void*, int, void* name) { LEAVE(named(name), ompt_mutex_critical); }

HEARTH_EXPORT void GOMP_atomic_start() { ENTER(atomic_lock.lock, ompt_mutex_atomic, 0); }
HEARTH_EXPORT void GOMP_atomic_end() { LEAVE_OWN(atomic_lock.lock, ompt_mutex_atomic); }
HEARTH_EXPORT void __kmpc_atomic_start() { ENTER(atomic_lock.lock, ompt_mutex_atomic, 0); }
HEARTH_EXPORT void __kmpc_atomic_end() { LEAVE_OWN(atomic_lock.lock, ompt_mutex_atomic); }
