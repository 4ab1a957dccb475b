// Turns: workers that one thread runs in turn, as an emulator does with the CPUs of its machine.
//
// Whoever has something to do gets its turn, in the order of the workers; a turn ends when there is nothing
// left to do, or after a random time between 0 and twice the mean. Time of one's own passes only during one's
// turn. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <vector>

#include "sim/workload/draw.h"
#include "sim/cost/fluid.h"

namespace hearth::sim {

class Turns {
 public:
  /// `mean` 0: there are none, all run at once.
  Turns(std::size_t workers, Time mean, std::uint64_t seed, bool deterministic)
      : left_(mean == 0 ? 0 : workers, kNever), mean_(mean), draw_(seed), deterministic_(deterministic) {}

  bool on() const { return mean_ != 0; }

  /// The worker has something to do, for `left` of its own time, instead of what it had before.
  void set(std::size_t worker, Time now, Time left) {
    left_[worker] = left;
    if (present_ == kNobody) give(worker, now);
    if (worker == present_) since_ = now;
  }
  /// A timer of another worker has run out, which ends the present turn.
  void interrupt(Time now) {
    if (now < turn_end_) turn_end_ = now;
  }
  /// When the present turn ends, or what is to be done in it; kNever: nobody has anything to do.
  Time next_end() const {
    if (present_ == kNobody) return kNever;
    const Time until = left_[present_] == kNever ? since_ : since_ + left_[present_];
    return until < turn_end_ ? until : turn_end_;
  }
  /// At next_end(): the worker whose time is over, or kNobody when just the turn is.
  std::size_t end_next(Time now) {
    if (left_[present_] != kNever && since_ + left_[present_] <= now) {
      left_[present_] = kNever;
      since_ = now;
      return present_;
    }
    pass(now);
    return kNobody;
  }
  static constexpr std::size_t kNobody = SIZE_MAX;

 private:
  void give(std::size_t worker, Time now) {
    present_ = worker;
    since_ = now;
    turn_end_ = now + (deterministic_ ? mean_ : 1 + draw_.below(2 * mean_));
  }
  void pass(Time now) {
    if (left_[present_] != kNever) left_[present_] -= now - since_;
    std::size_t next = present_;
    for (std::size_t tries = 0; tries < left_.size(); ++tries) {
      next = next + 1 == left_.size() ? 0 : next + 1;
      if (left_[next] != kNever) return give(next, now);
    }
    present_ = kNobody;
  }

  std::vector<Time> left_;  // by worker; kNever: it has nothing to do
  Time mean_;
  Draw draw_;
  bool deterministic_;
  std::size_t present_ = kNobody;
  Time since_ = 0;  // of the present turn is counted in left_
  Time turn_end_ = 0;
};

}  // namespace hearth::sim
