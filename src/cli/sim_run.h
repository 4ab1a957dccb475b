// Simulating and searching for `hearth sim` and `hearth report`: the main thread waits for sweep()'s threads, draws the
// progress bar and looks for an interrupt (InterruptWatch is the caller's).
#pragma once

#include "cli/sim_study.h"

namespace hearth::cli {

/// Into study.advice. False: interrupted.
bool search_advice(Study& study, sim::SearchRequest search);
/// All ways of the study, over the same draws.
sim::Sweep simulate_all(const SimRequest& request, const Study& study);

}  // namespace hearth::cli
