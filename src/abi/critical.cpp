// Critical sections and the lock of last resort for atomic updates.
//
// Any thread. Named sections lock inside the storage that the compiler makes for the name: gcc a pointer, clang 32 bytes,
// both zeroed, both shared by name between the objects of a program; so the first four bytes are the lock, and nothing is
// allocated. gcc's unnamed section has no storage and uses the one here.
#include "abi/atomic_lock.h"
#include "abi/export.h"
#include "runtime/lock.h"

using hearth::rt::Lock;

namespace hearth::abi {
constinit AtomicLock atomic_lock;
}

namespace {

struct alignas(hearth::kCacheLinePair) UnnamedCritical {
  Lock lock;
};
constinit UnnamedCritical unnamed;

Lock& named(void* storage) { return *static_cast<Lock*>(storage); }

}  // namespace

HEARTH_EXPORT void GOMP_critical_start() { unnamed.lock.lock(); }
HEARTH_EXPORT void GOMP_critical_end() { unnamed.lock.unlock(); }
HEARTH_EXPORT void GOMP_critical_name_start(void** name) { named(name).lock(); }
HEARTH_EXPORT void GOMP_critical_name_end(void** name) { named(name).unlock(); }

HEARTH_EXPORT void __kmpc_critical(void*, int, std::int32_t* name) { named(name).lock(); }
HEARTH_EXPORT void __kmpc_critical_with_hint(void*, int, std::int32_t* name, std::uint32_t) { named(name).lock(); }
HEARTH_EXPORT void __kmpc_end_critical(void*, int, std::int32_t* name) { named(name).unlock(); }

HEARTH_EXPORT void GOMP_atomic_start() { hearth::abi::atomic_lock.lock.lock(); }
HEARTH_EXPORT void GOMP_atomic_end() { hearth::abi::atomic_lock.lock.unlock(); }
HEARTH_EXPORT void __kmpc_atomic_start() { hearth::abi::atomic_lock.lock.lock(); }
HEARTH_EXPORT void __kmpc_atomic_end() { hearth::abi::atomic_lock.lock.unlock(); }
