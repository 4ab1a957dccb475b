// Where the workers sit, and the machine as policies and the memory model see it. Values, made once for a
// simulation and constant then.
#pragma once

#include <cstdint>

#include <vector>

#include "policy/task_policy.h"
#include "sim/engine.h"
#include "topology/machine.h"

namespace hearth::sim {

struct Seat {
  unsigned cpu = 0;  // the kernel's number
  Location location = 0;
};

/// The seats of options.threads workers, no more than there are CPUs to sit on; at least one.
std::vector<Seat> seats_of(const topology::Machine& machine, const RunOptions& options);

/// A MachineView and what it points to, as the runtime makes it (runtime/neighbourhood.cpp).
class View {
 public:
  View(const topology::Machine& machine, policy::Significance significance, policy::Threshold threshold);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const policy::MachineView& machine() const { return machine_; }
  /// All locations by rising distance, `from` first.
  const Location* near(Location from) const {
    return near_.data() + static_cast<std::size_t>(from) * static_cast<std::size_t>(machine_.locations);
  }

 private:
  policy::MachineView machine_;
  std::vector<std::uint32_t> distance_, hops_, cores_;
  std::vector<std::uint64_t> cache_per_core_;
  std::vector<double> price_;
  std::vector<Location> near_;
};

}  // namespace hearth::sim
