// What `hearth sim` prints and writes of its results: a table (sim_report.cpp) and JSON (sim_json.cpp). Pure, apart
// from write_results().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/sim_study.h"

namespace hearth::cli {

inline constexpr double kPicosecondsPerMillisecond = 1e9;

/// One way's figures, each over the draws.
struct Figures {
  std::vector<double> ms, ratio, local, busy, far;
};

Figures figures_of(const std::vector<sim::Result>& results, const std::vector<sim::Result>& reference);
std::uint32_t threads_of(const sim::Sweep& sweep);

std::string results_json(const SimRequest& request, const Study& study, const sim::Sweep& sweep);
/// The table on standard output, and JSON where --json wants it. The exit status.
int write_results(const SimRequest& request, const Study& study, const sim::Sweep& sweep);

}  // namespace hearth::cli
