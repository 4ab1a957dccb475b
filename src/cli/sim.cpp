// `hearth sim`: a table of simulated times, by policy and distribution; with --advise those of the distribution that a
// search has found. The simulating and searching are sim/'s. sim_study.h has what is simulated, sim_report.h what is told
// of it, sim_run.h starts it.
#include "cli/sim.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/decision_log.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/sim_report.h"
#include "cli/sim_run.h"
#include "cli/sim_study.h"
#include "sim/workload/generators.h"

namespace hearth::cli {
namespace {

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
  for (const std::string* output : {&request.json, &request.decisions, &request.recording})
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
    if (!request.recording.empty() && !record_run(request, study)) return kExitFailed;
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
