// The tool's callbacks. Written by the tool through ompt_set_callback, mostly in its initializer; read by
// every thread.
#pragma once

#include <atomic>

#include "hearth/omp-tools.h"

namespace hearth::rt::events {

/// How a mutex is made, which the specification leaves to the runtime. The names are libomp's: its tools know them.
#define HEARTH_MUTEX_IMPLS(X)  \
  X(kmp_mutex_impl_none, 0)    \
  X(kmp_mutex_impl_spin, 1)    \
  X(kmp_mutex_impl_queuing, 2) \
  X(kmp_mutex_impl_speculative, 3)
enum MutexImpl : unsigned {
#define HEARTH_MUTEX_IMPL(name, number) name = number,
  HEARTH_MUTEX_IMPLS(HEARTH_MUTEX_IMPL)
#undef HEARTH_MUTEX_IMPL
};

inline constexpr int kCallbacks = 64;
extern std::atomic<ompt_callback_t> callbacks[kCallbacks];

template <class T>
inline T callback(ompt_callbacks_t which) {
  return reinterpret_cast<T>(callbacks[which].load(std::memory_order_relaxed));
}

}  // namespace hearth::rt::events
