// What it takes to make the tasks of each construct, and who waits meanwhile. Pure: made from a Run.
//
// A task that makes many others is busy with that between the first of them and the last: with the runtime's part, and
// with its own steps from one to the next. Both are counted, but not what its thread ran or waited for in between.
#pragma once

#include <cstdint>
#include <vector>

#include "report/run.h"

namespace hearth::report {

struct Making {
  std::int64_t tasks = 0;    // of those that make many
  std::int64_t time = 0;     // that their makers spent on them
  double by_one_thread = 0;  // the part of the tasks that a single thread made
  std::int64_t waited = 0;   // by other threads meanwhile, with nothing to run

  std::int64_t each() const { return tasks > 0 ? time / tasks : 0; }
};

/// By construct, as Run::constructs.
std::vector<Making> making_of(const Run& run);

}  // namespace hearth::report
