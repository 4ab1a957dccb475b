// The model of this machine that `hearth topo --measure --keep` leaves for programs: what memory and moves cost here. Only
// costs are taken from it; what the machine is, the kernel says.
#pragma once

#include <string>

#include "topology/machine.h"

namespace hearth::topology {

/// Its file; see base/cache_file.h.
std::string kept_model_path();

struct KeptFigures {
  Machine machine;  // with measured latencies and bandwidths, by the same locations
  // Microseconds; 0: not measured.
  double move_pages_base_us = 0;
  double move_pages_us = 0;  // a page
  double move_thread_us = 0;
};

/// False: there is no such file, or it is of no use for `machine`; the latter is said once.
bool read_kept_model(const Machine& machine, KeptFigures& figures);

}  // namespace hearth::topology
