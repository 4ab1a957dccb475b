// A recording as a workload of the simulator: who made whom and when, what each task computed between, and
// what it touched as far as its footprint tells.
#pragma once

#include <string>

#include "sim/workload/workload.h"

namespace hearth::replay {

struct RecordedWorkload {
  sim::Workload workload;
  std::string error;  // not empty: there is none
  /// What the recording could not tell, in sentences; empty: nothing.
  std::string remarks;
  bool knows_allocations = false;  // else the regions of memory are what ranges amount to
  bool guessed = false;            // lengths of footprints, some of them

  bool ok() const { return error.empty(); }
};
RecordedWorkload load_workload(const std::string& path);

}  // namespace hearth::replay
