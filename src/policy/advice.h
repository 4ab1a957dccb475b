// Which distribution suits an allocation, from how tasks use it: what `adaptive` does before there are tasks.
//
// Pure. The numbers come from a recording, or from a workload that is simulated.
#pragma once

#include <cstdint>

#include "placement/distribution.h"

namespace hearth::policy {

/// The program as a whole, and where it runs.
struct ProgramUse {
  double creating = 0;  // the part of its time for which the busiest creator creates tasks
  std::uint32_t workers = 1;
  double busy = 1;  // of those, how many run tasks, on the average
  std::int32_t locations = 1;
  std::uint64_t page_bytes = 4096;
  /// The operating system puts pages where they are first touched.
  bool first_touch = true;
};

/// One allocation.
struct RegionUse {
  std::uint64_t bytes = 0;
  double part = 1;      // of the allocation, that a task touches that touches it at all
  double followed = 0;  // of the bytes that tasks touch, by those that say so: a policy can bring them there
  double tasks = 0;     // of all tasks, those that touch it
  double main = 1;      // of the bytes that tasks touch that touch the allocation, those in it
  bool touched_by_users = false;  // the tasks that use a part are also the first to touch it
};

/// Tasks that touch it touch most of it.
bool used_whole(const RegionUse& region);
placement::Kind advise(const ProgramUse& program, const RegionUse& region);

}  // namespace hearth::policy
