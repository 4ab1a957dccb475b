// What costs the threads' time besides their work, each cost with its share of thread time, most first. Pure.
#pragma once

#include <vector>

#include "report/first_screen.h"

namespace hearth::report {

/// Waiting by place, creating by construct, time outside regions; where less than three of them matter, the constructs
/// with the most work follow.
std::vector<Cost> costs_of(const Run& run, const Figures& figures, const Locality& locality);

/// What could be changed about them, each with the place in the source.
std::vector<Change> changes_of(const Run& run, const Figures& figures, const Locality& locality, const Advice& advice);

/// "at the end of the parallel region at app.c:7"
std::string wait_words(const WaitPlace& place);

}  // namespace hearth::report
