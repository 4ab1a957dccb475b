// Where the workers of a simulation sit.
#pragma once

#include <cstdint>

#include <vector>

#include "sim/engine/engine.h"
#include "topology/machine.h"

namespace hearth::sim {

struct Seat {
  unsigned cpu = 0;  // the kernel's number
  Location location = 0;
};

/// The seats of options.threads workers, no more than there are CPUs to sit on; at least one.
std::vector<Seat> seats_of(const topology::Machine& machine, const RunOptions& options);

}  // namespace hearth::sim
