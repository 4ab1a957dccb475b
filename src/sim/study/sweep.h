// Several ways to run one workload on one machine, each simulated over the same draws of what is not known of
// the machine, so that they can be compared draw by draw: on all cores that the caller offers.
//
// sweep() returns when its threads have ended. What it gives does not depend on how many there were.
#pragma once

#include <cstddef>
#include <cstdint>

#include <functional>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/cost/parameters.h"
#include "sim/workload/workload.h"
#include "topology/machine.h"

namespace hearth::sim {

struct SweepRequest {
  const Workload* workload = nullptr;
  const topology::Machine* machine = nullptr;
  const Parameters* parameters = nullptr;
  std::vector<RunOptions> ways;  // their seeds and progress are the sweep's
  std::uint32_t draws = 20;
  bool nominal = false;          // take the figures' own values: only the races differ from draw to draw
  std::uint64_t first_seed = 1;  // draw i has the seed first_seed + i for races, and all draws follow from it
  unsigned threads = 1;
  /// Called by the caller's thread several times a second with the part that is done, 0 to 1; false ends it.
  std::function<bool(double)> progress;
};

struct Sweep {
  bool complete = true;
  std::vector<std::vector<Result>> results;  // by way, by draw
  std::vector<std::vector<double>> units;    // by draw: the arguments of Parameters::drawn(); nominal: none
};

Sweep sweep(const SweepRequest& request);

/// `draws` points in the unit cube of `dimensions`: in each dimension one in each of as many equal parts
/// (McKay's Latin hypercube), so that few draws cover every range.
std::vector<std::vector<double>> latin_hypercube(std::size_t dimensions, std::size_t draws,
                                                 std::uint64_t seed);

/// Where nine of ten values lie.
struct Band {
  double low = 0;  // 5 %
  double median = 0;
  double high = 0;  // 95 %
};
/// Between values where a quantile falls between them; zeros for no values.
Band band_of(std::vector<double> values);

}  // namespace hearth::sim
