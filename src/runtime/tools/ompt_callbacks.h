// The tool's callbacks. Written by the tool through ompt_set_callback, mostly in its initializer; read by
// every thread.
#pragma once

#include <atomic>

#include <omp-tools.h>

namespace hearth::rt::events {

inline constexpr int kCallbacks = 64;
extern std::atomic<ompt_callback_t> callbacks[kCallbacks];

template <class T>
inline T callback(ompt_callbacks_t which) {
  return reinterpret_cast<T>(callbacks[which].load(std::memory_order_relaxed));
}

}  // namespace hearth::rt::events
