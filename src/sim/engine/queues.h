// What the workers of a simulation queue their tasks in, and what tells whose turn it is. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <vector>

#include "sim/cost/fluid.h"

namespace hearth::sim {

/// A queue with two ends.
template <class T>
class Ring {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& at(std::size_t i) { return items_[(first_ + i) & (items_.size() - 1)]; }
  void push_back(T item) {
    if (size_ == items_.size()) grow();
    at(size_++) = item;
  }
  T pop_back() { return at(--size_); }
  /// Takes out the i-th; those before it move up.
  T take(std::size_t i) {
    const T item = at(i);
    for (; i > 0; --i) at(i) = at(i - 1);
    ++first_;
    --size_;
    return item;
  }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 16 : 2 * items_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = at(i);
    items_.swap(larger);
    first_ = 0;
  }

  std::vector<T> items_;  // a power of two
  std::size_t first_ = 0, size_ = 0;
};

/// When each worker goes on. The earliest comes first; of equals the one with the smaller number.
class Timers {
 public:
  explicit Timers(std::size_t workers) {
    while (leaves_ < workers) leaves_ *= 2;
    when_.assign(leaves_, kNever);
    winner_.resize(leaves_);
    for (std::size_t node = leaves_ - 1; node > 0; --node) play(node);
  }
  Time first() const { return when_[first_worker()]; }
  std::size_t first_worker() const { return leaves_ == 1 ? 0 : winner_[1]; }
  Time of(std::size_t worker) const { return when_[worker]; }
  void set(std::size_t worker, Time when) {
    when_[worker] = when;
    for (std::size_t node = (leaves_ + worker) / 2; node > 0; node /= 2) play(node);
  }

 private:
  std::uint32_t contender(std::size_t node) const {
    return node >= leaves_ ? static_cast<std::uint32_t>(node - leaves_) : winner_[node];
  }
  void play(std::size_t node) {
    const std::uint32_t left = contender(2 * node), right = contender(2 * node + 1);
    winner_[node] = when_[right] < when_[left] ? right : left;
  }

  std::size_t leaves_ = 1;
  std::vector<Time> when_;
  std::vector<std::uint32_t> winner_;  // of each inner node, [1] is the root
};

/// Small and fast random numbers (xorshift64*), the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_((seed + 1) * 0x9e3779b97f4a7c15u | 1) {
    for (int i = 0; i < 4; ++i) next();
  }
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  /// Below `count`, which is not 0 and small.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>((next() >> 32) * count >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace hearth::sim
