// Threads that had nothing to run while tasks were ready that nobody had taken. Pure: made from a Run.
//
// At each moment as many threads could have worked as are idle, but not more than tasks are ready. A thread counts as idle
// while its task waits at a barrier, for tasks, or for a turn that other tasks bring; not while it waits for a lock, which it
// may not leave, and not outside of regions.
#pragma once

#include <cstdint>
#include <vector>

#include "report/run.h"

namespace hearth::report {

struct IdleReady {
  struct OfConstruct {
    double time = 0;         // thread time that its ready tasks could have used
    double dealt = 0;        // of it, that of tasks which were dealt to another location
    std::int64_t tasks = 0;  // that were ready while a thread was idle
    double passed_over = 0;  // of these, how long they were so, summed
  };
  double time = 0;                      // thread time, of all
  std::vector<OfConstruct> constructs;  // as Run::constructs
};

IdleReady idle_ready_of(const Run& run);

}  // namespace hearth::report
