// `hearth sim`: a table of simulated times, by policy and distribution; with --advise those of the distribution that a
// search has found. The simulating and searching are sim/'s. sim_study.h has what is simulated, sim_report.h what is told
// of it; here they are started.
//
// The main thread waits for sweep()'s threads, draws the progress bar and looks for an interrupt.
#include "cli/sim.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/decision_log.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sim_report.h"
#include "cli/sim_study.h"
#include "sim/workload/generators.h"
#include "topology/current.h"

namespace hearth::cli {
namespace {

// ---- while it runs

/// For a sweep or a search: how far it is, and whether it shall go on.
std::function<bool(double)> watched(Progress& progress) {
  return [&progress](double part) {
    constexpr double kSteps = 1000;
    progress.update(static_cast<std::uint64_t>(part * kSteps), static_cast<std::uint64_t>(kSteps));
    return interrupted() == 0;
  };
}

/// False: interrupted.
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

// ---- --list

std::string default_text(const sim::GeneratorParameter& parameter) {
  std::vector<std::string> values;
  for (const double value : parameter.defaults) {
    values.push_back(parameter.words.empty() ? fmt::format("{}", value)
                                             : std::string(parameter.words[static_cast<std::size_t>(value)]));
  }
  return values[0] == values[1] && values[0] == values[2] ? values[0] : joined(values);
}

std::string list_text() {
  std::string text =
      "Settings of each program (--set NAME=VALUE) with their defaults for inputs=small, paper and manycore; "
      "one\n"
      "default holds for all. small is meant for two cores; paper and manycore are the sizes of figures 7 "
      "and 9 of\n"
      "Muddukrishna et al. 2015.\n";
  for (const sim::Generator& generator : sim::generators()) {
    text += fmt::format("\n{}: {}\n", generator.name, generator.meaning);
    for (const sim::GeneratorParameter& parameter : generator.parameters) {
      text += fmt::format("  {:<16} {} ({})\n", parameter.name, parameter.meaning, default_text(parameter));
      if (!parameter.words.empty())
        text += fmt::format("  {:<16}   legal: {}\n", "", joined(parameter.words));
    }
  }
  return text;
}

}  // namespace

int sim_main(const SimRequest& request) {
  if (request.list) return put_text(stdout, list_text()), 0;
  Study study;
  sim::SearchRequest search;
  try {
    study = plan(request);
    if (request.advise) search = plan_search(request, study);
  } catch (const UsageError& error) {
    say("sim: {}\nTry: hearth sim --help", error.text);
    return kExitUsage;
  }
  for (const std::string* output : {&request.json, &request.decisions})
    if (would_destroy(*output, request.program) || would_destroy(*output, study.model.machine.origin))
      return kExitUsage;
  if (!request.decisions.empty()) {
    const std::string error = log_decisions(request.decisions, study.workload, study.model.machine,
                                            study.model.parameters, study.options.back());
    if (!error.empty()) {
      say("sim: {}", error);
      return kExitFailed;
    }
  }
  sim::Sweep sweep;
  {
    const InterruptWatch watch;
    sweep.complete = !request.advise || search_advice(study, std::move(search));
    if (request.advise && sweep.complete) compare_advice(study);
    if (sweep.complete) sweep = simulate_all(request, study);
  }
  if (!sweep.complete) {
    say("sim: interrupted; nothing is written");
    end_interrupted();
  }
  return write_results(request, study, sweep);
}

}  // namespace hearth::cli
