// threadprivate variables of programs that clang compiled without thread-local storage (-fnoopenmp-use-tls).
//
// The program names a variable by its address; each thread has a copy, except the initial thread, whose copy
// is the variable itself. A copy starts as the constructor or the copy constructor makes it, or with the
// value that the variable had when it was first named. The table of variables is the process's, under a lock;
// a thread's table of copies is its own.
#pragma once

#include <cstddef>

#include "runtime/state/thread.h"

namespace hearth::rt {

using Constructor = void* (*)(void*);
using CopyConstructor = void* (*)(void*, void*);
using Destructor = void (*)(void*);
using VectorConstructor = void* (*)(void*, std::size_t);
using VectorCopyConstructor = void* (*)(void*, void*, std::size_t);
using VectorDestructor = void (*)(void*, std::size_t);

/// How copies of `variable` are made and destroyed; before its first use. With `length` the functions take it
/// as last argument.
struct ThreadprivateMakers {
  void* construct = nullptr;
  void* copy = nullptr;
  void* destroy = nullptr;
  bool is_vector = false;
  std::size_t length = 0;
};
void register_threadprivate(void* variable, const ThreadprivateMakers& makers);
void* threadprivate_copy(Thread* self, void* variable, std::size_t size);
/// The thread ends, or its Thread object gets another thread.
void destroy_threadprivate(Thread* self);

}  // namespace hearth::rt
