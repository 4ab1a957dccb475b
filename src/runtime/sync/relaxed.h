// A plain value that one thread writes and others may read at any time, where only the value matters and
// nothing is ordered by it. Loads and stores are relaxed.
#pragma once

#include <atomic>

namespace hearth::rt {

template <class T>
class Relaxed {
 public:
  constexpr explicit Relaxed(T value) : value_(value) {}
  operator T() const { return value_.load(std::memory_order_relaxed); }
  Relaxed& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }

 private:
  std::atomic<T> value_;
};

}  // namespace hearth::rt
