// OpenMP locks: the omp_ API, its Fortran forms, and the calls by which clang's front end and Intel's compilers lock.
//
// Any thread. The lock lives inside the program's variable: four bytes of omp_lock_t, eight of omp_nest_lock_t, which is
// what the smallest of the peers' types has (runtime/lock.h). Hints are advice that a barging lock has no use for: the
// uncontended path is one compare-and-swap whatever the hint says, and there is no speculation.
#include "abi/export.h"
#include "runtime/lock.h"
#include "runtime/thread.h"

using hearth::rt::Lock;
using hearth::rt::NestLock;

namespace {

// omp_lock_t*, omp_nest_lock_t* and kmpc's void** all arrive as the address of the storage.
Lock& simple(void* storage) { return *static_cast<Lock*>(storage); }
NestLock& nest(void* storage) { return *static_cast<NestLock*>(storage); }

std::uint32_t me() { return static_cast<std::uint32_t>(hearth::rt::Thread::current()->gtid); }

}  // namespace

HEARTH_EXPORT void omp_init_lock(void* lock) { simple(lock).reset(); }
HEARTH_EXPORT void omp_init_lock_with_hint(void* lock, int) { simple(lock).reset(); }
HEARTH_EXPORT void omp_destroy_lock(void*) {}
HEARTH_EXPORT void omp_set_lock(void* lock) { simple(lock).lock(); }
HEARTH_EXPORT void omp_unset_lock(void* lock) { simple(lock).unlock(); }
HEARTH_EXPORT int omp_test_lock(void* lock) { return simple(lock).try_lock() ? 1 : 0; }

HEARTH_EXPORT void omp_init_nest_lock(void* lock) { nest(lock).reset(); }
HEARTH_EXPORT void omp_init_nest_lock_with_hint(void* lock, int) { nest(lock).reset(); }
HEARTH_EXPORT void omp_destroy_nest_lock(void*) {}
HEARTH_EXPORT void omp_set_nest_lock(void* lock) { nest(lock).lock(me()); }
HEARTH_EXPORT void omp_unset_nest_lock(void* lock) { nest(lock).unlock(); }
HEARTH_EXPORT int omp_test_nest_lock(void* lock) { return static_cast<int>(nest(lock).try_lock(me())); }

// Fortran passes the lock variable by reference, as C does, and hints by reference.
HEARTH_EXPORT void omp_init_lock_(void* lock) { simple(lock).reset(); }
HEARTH_EXPORT void omp_init_lock_with_hint_(void* lock, const int*) { simple(lock).reset(); }
HEARTH_EXPORT void omp_destroy_lock_(void*) {}
HEARTH_EXPORT void omp_set_lock_(void* lock) { simple(lock).lock(); }
HEARTH_EXPORT void omp_unset_lock_(void* lock) { simple(lock).unlock(); }
HEARTH_EXPORT int omp_test_lock_(void* lock) { return simple(lock).try_lock() ? 1 : 0; }

HEARTH_EXPORT void omp_init_nest_lock_(void* lock) { nest(lock).reset(); }
HEARTH_EXPORT void omp_init_nest_lock_with_hint_(void* lock, const int*) { nest(lock).reset(); }
HEARTH_EXPORT void omp_destroy_nest_lock_(void*) {}
HEARTH_EXPORT void omp_set_nest_lock_(void* lock) { nest(lock).lock(me()); }
HEARTH_EXPORT void omp_unset_nest_lock_(void* lock) { nest(lock).unlock(); }
HEARTH_EXPORT int omp_test_nest_lock_(void* lock) { return static_cast<int>(nest(lock).try_lock(me())); }

HEARTH_EXPORT void __kmpc_init_lock(void*, int, void** lock) { simple(lock).reset(); }
HEARTH_EXPORT void __kmpc_init_lock_with_hint(void*, int, void** lock, std::uintptr_t) { simple(lock).reset(); }
HEARTH_EXPORT void __kmpc_destroy_lock(void*, int, void**) {}
HEARTH_EXPORT void __kmpc_set_lock(void*, int, void** lock) { simple(lock).lock(); }
HEARTH_EXPORT void __kmpc_unset_lock(void*, int, void** lock) { simple(lock).unlock(); }
HEARTH_EXPORT int __kmpc_test_lock(void*, int, void** lock) { return simple(lock).try_lock() ? 1 : 0; }

HEARTH_EXPORT void __kmpc_init_nest_lock(void*, int, void** lock) { nest(lock).reset(); }
HEARTH_EXPORT void __kmpc_init_nest_lock_with_hint(void*, int, void** lock, std::uintptr_t) { nest(lock).reset(); }
HEARTH_EXPORT void __kmpc_destroy_nest_lock(void*, int, void**) {}
HEARTH_EXPORT void __kmpc_set_nest_lock(void*, int, void** lock) { nest(lock).lock(me()); }
HEARTH_EXPORT void __kmpc_unset_nest_lock(void*, int, void** lock) { nest(lock).unlock(); }
HEARTH_EXPORT int __kmpc_test_nest_lock(void*, int, void** lock) { return static_cast<int>(nest(lock).try_lock(me())); }
