// clang's threadprivate variables without thread-local storage: translators to runtime/process/threadprivate.h. Any
// thread.
//
// The program's `cache` (a word per variable) is not needed: a thread finds its copies in a table of its own.
#include <cstddef>
#include <cstdint>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "runtime/state/threadprivate.h"

using hearth::rt::Thread;
using hearth::rt::ThreadprivateMakers;

HEARTH_EXPORT void* __kmpc_threadprivate(ident_t*, std::int32_t, void* variable, std::size_t size) {
  return hearth::rt::threadprivate_copy(Thread::current(), variable, size);
}

HEARTH_EXPORT void* __kmpc_threadprivate_cached(ident_t*, std::int32_t, void* variable, std::size_t size,
                                                void***) {
  return hearth::rt::threadprivate_copy(Thread::current(), variable, size);
}

HEARTH_EXPORT void __kmpc_threadprivate_register(ident_t*, void* variable, hearth::rt::Constructor construct,
                                                 hearth::rt::CopyConstructor copy,
                                                 hearth::rt::Destructor destroy) {
  ThreadprivateMakers makers;
  makers.construct = reinterpret_cast<void*>(construct);
  makers.copy = reinterpret_cast<void*>(copy);
  makers.destroy = reinterpret_cast<void*>(destroy);
  hearth::rt::register_threadprivate(variable, makers);
}

HEARTH_EXPORT void __kmpc_threadprivate_register_vec(ident_t*, void* variable,
                                                     hearth::rt::VectorConstructor construct,
                                                     hearth::rt::VectorCopyConstructor copy,
                                                     hearth::rt::VectorDestructor destroy,
                                                     std::size_t length) {
  ThreadprivateMakers makers;
  makers.construct = reinterpret_cast<void*>(construct);
  makers.copy = reinterpret_cast<void*>(copy);
  makers.destroy = reinterpret_cast<void*>(destroy);
  makers.is_vector = true;
  makers.length = length;
  hearth::rt::register_threadprivate(variable, makers);
}
