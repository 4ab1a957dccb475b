// Simulating and searching for `hearth sim` and `hearth report`: the main thread waits for sweep()'s threads, draws the
// progress bar and looks for an interrupt (InterruptWatch is the caller's).
#pragma once

#include "cli/sim_study.h"

namespace hearth::cli {

/// Into study.advice. False: interrupted.
bool search_advice(Study& study, sim::SearchRequest search);
/// Writes the recording of the last way with the model's own values. False, and said, when that fails; does not return when
/// it is interrupted.
bool record_run(const SimRequest& request, const Study& study);

/// All ways of the study, over the same draws.
sim::Sweep simulate_all(const SimRequest& request, const Study& study);

}  // namespace hearth::cli
