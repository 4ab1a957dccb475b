// Advice about where allocations should be, for the first screen. The rules are policy/advice.h's, from what tasks declare to
// touch; what the advice gains only the simulator can estimate (hearth report --machine).
#pragma once

#include <string>
#include <vector>

#include "placement/distribution.h"
#include "report/first_screen.h"
#include "sim/study/search.h"

namespace hearth::report {

/// What a program says to have an allocation so.
std::string distribution_call(placement::Kind kind);

/// By the rules, for the machine of the recording: nothing where it has one node, or the recording no allocations that tasks
/// declare to touch.
Advice advice_by_rules(const Run& run, const Figures& figures);

/// Of what a search has found. `on`: the machine.
Advice advice_of_search(const sim::Workload& workload, const sim::Searched& searched, const std::string& gain);

}  // namespace hearth::report
