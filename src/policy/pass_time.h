// PassTime: how long all threads take from one barrier to the next, if each of them is at some place and uses memory at some
// locations. The time of whatever is slowest: a thread alone, the CPUs of a location that has more threads than CPUs, its
// memory, a link, or the machine. What runs beside each other shares these, and nothing else slows it down.
//
// In the caller's memory, for one plan at a time, used by one thread.
#pragma once

#include "policy/bubble_policy.h"

namespace hearth::policy {

class PassTime {
 public:
  static std::size_t bytes_for(const PlaceTree& places);
  /// `fed_cpus`: as in Horizon (relocation.h).
  PassTime(const PlaceTree& places, const CostModel& costs, void* memory, float fed_cpus = 0);

  void clear();
  /// The present thread, which is at `from`, goes through so many bytes of the memory at `to`.
  void use(Location from, Location to, double read, double written);
  /// The same without waiting for it: only what it takes from others.
  void take(Location from, Location to, double read, double written);
  /// That was all of the present thread, which runs at `place` and computes so long; the next one follows.
  void end_thread(PlaceId place, double work_ns);
  double ns() const;
  /// What a thread takes alone, the mean of all.
  double mean_ns() const { return threads_ > 0 ? sum_ / threads_ : 0; }

 private:
  double memory_gbs(Location where) const;

  const PlaceTree& places_;
  const CostModel& costs_;
  double alone_ = 0;    // the present thread
  double longest_ = 0;  // of those before
  double sum_ = 0;      // of theirs
  std::int32_t threads_ = 0;
  double machine_ = 0;  // bytes
  double link_[CostModel::kMaxLinks];
  double* memory_;        // by location
  double* pair_;          // by two of them
  double* busy_;          // nanoseconds by place
  double lines_by_byte_;  // under way
  double fed_cpus_;
};

}  // namespace hearth::policy
