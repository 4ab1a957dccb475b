// OpenMP locks: the omp_ API, its Fortran forms, and the calls by which clang's front end and Intel's
// compilers lock.
//
// Any thread. The lock lives inside the program's variable: four bytes of omp_lock_t, eight of
// omp_nest_lock_t, which is what the smallest of the peers' types has (runtime/sync/lock.h). Hints are advice that
// a barging lock has no use for: the uncontended path is one compare-and-swap whatever the hint says, and
// there is no speculation. With an OMPT tool the traced forms, out of line, do the same and tell the tool.
#include "abi/export.h"
#include "runtime/tools/events.h"
#include "runtime/sync/lock.h"
#include "runtime/state/thread.h"

// Where the program called, for a tool. The CFA, not the frame address, which would cost every call a frame
// pointer.
#define HERE __builtin_return_address(0), __builtin_dwarf_cfa()

namespace {

using hearth::rt::Lock;
using hearth::rt::NestLock;
using hearth::rt::Thread;
namespace events = hearth::rt::events;

// omp_lock_t*, omp_nest_lock_t* and kmpc's void** are all the address of the storage.
Lock& simple(void* storage) { return *static_cast<Lock*>(storage); }
NestLock& nest(void* storage) { return *static_cast<NestLock*>(storage); }

std::uint32_t number_of(const Thread* self) {
  return NestLock::owner(self->gtid, self->task->depth.load(std::memory_order_relaxed));
}
std::uint32_t me() { return number_of(Thread::current()); }

[[gnu::cold, gnu::noinline]] void traced_init(void* lock, ompt_mutex_t kind, unsigned hint, void* from,
                                              void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  events::lock_init(self, kind, hint, lock);
}

[[gnu::cold, gnu::noinline]] void traced_destroy(void* lock, ompt_mutex_t kind, void* from, void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  events::lock_destroy(self, kind, lock);
}

[[gnu::cold, gnu::noinline]] void traced_set(void* lock, void* from, void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  events::mutex_acquire(self, ompt_mutex_lock, 0, lock);
  simple(lock).lock();
  events::mutex_acquired(self, ompt_mutex_lock, lock);
}

[[gnu::cold, gnu::noinline]] void traced_unset(void* lock, void* from, void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  simple(lock).unlock();
  events::mutex_released(self, ompt_mutex_lock, lock);
}

[[gnu::cold, gnu::noinline]] int traced_test(void* lock, void* from, void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  events::mutex_acquire(self, ompt_mutex_test_lock, 0, lock);
  if (!simple(lock).try_lock()) return 0;
  events::mutex_acquired(self, ompt_mutex_test_lock, lock);
  return 1;
}

[[gnu::cold, gnu::noinline]] void traced_set_nest(void* lock, void* from, void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  events::mutex_acquire(self, ompt_mutex_nest_lock, 0, lock);
  if (nest(lock).lock(number_of(self)) == 1)
    events::mutex_acquired(self, ompt_mutex_nest_lock, lock);
  else
    events::nest_lock(self, ompt_scope_begin, lock);
}

[[gnu::cold, gnu::noinline]] void traced_unset_nest(void* lock, void* from, void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  if (nest(lock).unlock() == 0)
    events::mutex_released(self, ompt_mutex_nest_lock, lock);
  else
    events::nest_lock(self, ompt_scope_end, lock);
}

[[gnu::cold, gnu::noinline]] int traced_test_nest(void* lock, void* from, void* frame) {
  Thread* self = Thread::current();
  events::Entry entry(self, from, frame);
  events::mutex_acquire(self, ompt_mutex_test_nest_lock, 0, lock);
  const std::uint32_t depth = nest(lock).try_lock(number_of(self));
  if (depth == 1)
    events::mutex_acquired(self, ompt_mutex_test_nest_lock, lock);
  else if (depth > 1)
    events::nest_lock(self, ompt_scope_begin, lock);
  return static_cast<int>(depth);
}

}  // namespace

// The one body of each operation, in the skins that follow. A lock may be the first thing that a program
// makes: only then is a tool looked for (Thread::current()).
#define INIT(lock, hint) \
  simple(lock).reset();  \
  Thread::current();     \
  if (events::active()) traced_init(lock, ompt_mutex_lock, static_cast<unsigned>(hint), HERE)
#define DESTROY(lock) \
  if (events::active()) traced_destroy(lock, ompt_mutex_lock, HERE)
#define SET(lock)                                      \
  if (events::active()) return traced_set(lock, HERE); \
  simple(lock).lock()
#define UNSET(lock)                                      \
  if (events::active()) return traced_unset(lock, HERE); \
  simple(lock).unlock()
#define TEST(lock)                                      \
  if (events::active()) return traced_test(lock, HERE); \
  return simple(lock).try_lock() ? 1 : 0

#define INIT_NEST(lock, hint) \
  nest(lock).reset();         \
  Thread::current();          \
  if (events::active()) traced_init(lock, ompt_mutex_nest_lock, static_cast<unsigned>(hint), HERE)
#define DESTROY_NEST(lock) \
  if (events::active()) traced_destroy(lock, ompt_mutex_nest_lock, HERE)
#define SET_NEST(lock)                                      \
  if (events::active()) return traced_set_nest(lock, HERE); \
  nest(lock).lock(me())
#define UNSET_NEST(lock)                                      \
  if (events::active()) return traced_unset_nest(lock, HERE); \
  nest(lock).unlock()
#define TEST_NEST(lock)                                      \
  if (events::active()) return traced_test_nest(lock, HERE); \
  return static_cast<int>(nest(lock).try_lock(me()))

HEARTH_EXPORT void omp_init_lock(void* lock) { INIT(lock, 0); }
HEARTH_EXPORT void omp_init_lock_with_hint(void* lock, int hint) { INIT(lock, hint); }
HEARTH_EXPORT void omp_destroy_lock(void* lock) { DESTROY(lock); }
HEARTH_EXPORT void omp_set_lock(void* lock) { SET(lock); }
HEARTH_EXPORT void omp_unset_lock(void* lock) { UNSET(lock); }
HEARTH_EXPORT int omp_test_lock(void* lock) { TEST(lock); }

HEARTH_EXPORT void omp_init_nest_lock(void* lock) { INIT_NEST(lock, 0); }
HEARTH_EXPORT void omp_init_nest_lock_with_hint(void* lock, int hint) { INIT_NEST(lock, hint); }
HEARTH_EXPORT void omp_destroy_nest_lock(void* lock) { DESTROY_NEST(lock); }
HEARTH_EXPORT void omp_set_nest_lock(void* lock) { SET_NEST(lock); }
HEARTH_EXPORT void omp_unset_nest_lock(void* lock) { UNSET_NEST(lock); }
HEARTH_EXPORT int omp_test_nest_lock(void* lock) { TEST_NEST(lock); }

// Fortran passes the lock variable by reference, as C does, and hints by reference.
HEARTH_EXPORT void omp_init_lock_(void* lock) { INIT(lock, 0); }
HEARTH_EXPORT void omp_init_lock_with_hint_(void* lock, const int* hint) { INIT(lock, *hint); }
HEARTH_EXPORT void omp_destroy_lock_(void* lock) { DESTROY(lock); }
HEARTH_EXPORT void omp_set_lock_(void* lock) { SET(lock); }
HEARTH_EXPORT void omp_unset_lock_(void* lock) { UNSET(lock); }
HEARTH_EXPORT int omp_test_lock_(void* lock) { TEST(lock); }

HEARTH_EXPORT void omp_init_nest_lock_(void* lock) { INIT_NEST(lock, 0); }
HEARTH_EXPORT void omp_init_nest_lock_with_hint_(void* lock, const int* hint) { INIT_NEST(lock, *hint); }
HEARTH_EXPORT void omp_destroy_nest_lock_(void* lock) { DESTROY_NEST(lock); }
HEARTH_EXPORT void omp_set_nest_lock_(void* lock) { SET_NEST(lock); }
HEARTH_EXPORT void omp_unset_nest_lock_(void* lock) { UNSET_NEST(lock); }
HEARTH_EXPORT int omp_test_nest_lock_(void* lock) { TEST_NEST(lock); }

HEARTH_EXPORT void __kmpc_init_lock(void*, int, void* lock) { INIT(lock, 0); }
HEARTH_EXPORT void __kmpc_init_lock_with_hint(void*, int, void* lock, std::uintptr_t hint) {
  INIT(lock, hint);
}
HEARTH_EXPORT void __kmpc_destroy_lock(void*, int, void* lock) { DESTROY(lock); }
HEARTH_EXPORT void __kmpc_set_lock(void*, int, void* lock) { SET(lock); }
HEARTH_EXPORT void __kmpc_unset_lock(void*, int, void* lock) { UNSET(lock); }
HEARTH_EXPORT int __kmpc_test_lock(void*, int, void* lock) { TEST(lock); }

HEARTH_EXPORT void __kmpc_init_nest_lock(void*, int, void* lock) { INIT_NEST(lock, 0); }
HEARTH_EXPORT void __kmpc_init_nest_lock_with_hint(void*, int, void* lock, std::uintptr_t hint) {
  INIT_NEST(lock, hint);
}
HEARTH_EXPORT void __kmpc_destroy_nest_lock(void*, int, void* lock) { DESTROY_NEST(lock); }
HEARTH_EXPORT void __kmpc_set_nest_lock(void*, int, void* lock) { SET_NEST(lock); }
HEARTH_EXPORT void __kmpc_unset_nest_lock(void*, int, void* lock) { UNSET_NEST(lock); }
HEARTH_EXPORT int __kmpc_test_nest_lock(void*, int, void* lock) { TEST_NEST(lock); }
