// See sim_run.h.
#include "cli/sim_run.h"

#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "replay/simulated_recording.h"
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

bool record_run(const SimRequest& request, const Study& study) {
  const Way& way = study.ways.back();
  replay::SimulatedRun run{study.workload, study.model.machine, study.model.parameters, study.options.back(), way.distribution,
                           fmt::format("{} (simulated: {}, {}, {})", request.program, study.model.machine.name, way.policy,
                                       way.distribution)};
  run.options.seed = request.first_seed;
  std::string wrong;
  try {
    Progress progress("recording");
    wrong = replay::record_simulation(run, request.recording, [&progress](std::uint64_t done, std::uint64_t all) {
      progress.update(done, all);
      if (interrupted() != 0) throw record::Interrupted();
    });
  } catch (const record::Interrupted&) {
    say("sim: interrupted; {} is not written", request.recording);
    end_interrupted();
  }
  if (!wrong.empty()) say("sim: {}: cannot be written: {}", request.recording, wrong);
  return wrong.empty();
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
