// See sim_run.h.
#include "cli/sim_run.h"

#include <functional>
#include <utility>

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "topology/current.h"

namespace hearth::cli {
namespace {

/// For a sweep or a search: how far it is, and whether it shall go on.
std::function<bool(double)> watched(Progress& progress) {
  return [&progress](double part) {
    constexpr double kSteps = 1000;
    progress.update(static_cast<std::uint64_t>(part * kSteps), static_cast<std::uint64_t>(kSteps));
    return interrupted() == 0;
  };
}

}  // namespace

bool search_advice(Study& study, sim::SearchRequest search) {
  Progress progress("searching");
  search.progress = watched(progress);
  study.advice = sim::search(search);
  return study.advice.complete;
}

sim::Sweep simulate_all(const SimRequest& request, const Study& study) {
  sim::SweepRequest sweep;
  sweep.workload = &study.workload;
  sweep.machine = &study.model.machine;
  sweep.parameters = &study.model.parameters;
  sweep.ways = study.options;
  sweep.draws = request.draws;
  sweep.nominal = request.nominal;
  sweep.first_seed = request.first_seed;
  sweep.threads = topology::allowance().default_team_size();
  Progress progress("simulating");
  sweep.progress = watched(progress);
  return sim::sweep(sweep);
}

}  // namespace hearth::cli
