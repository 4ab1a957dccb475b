// The arguments of the commands that read recordings. See arguments.cpp.
#include <memory>
#include <string>

#include "cli/arguments_parts.h"
#include "cli/map.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/sim.h"

namespace hearth::cli {
namespace {

void register_report(CLI::App& app) {
  const auto request = std::make_shared<ReportRequest>();
  CLI::App* report = app.add_subcommand("report", "Show what happened in a recorded run");
  report->add_option("file", request->file, "A recording of hearth record")->required()->type_name("FILE");
  report->add_option("other", request->other, "Another recording, to compare it with")->type_name("OTHER");
  report
      ->add_option("-o,--output", request->output,
                   "Write the page to this file (default: the recording's name and .html)")
      ->type_name("FILE.html");
  report->add_flag("--text", request->text, "Print the first screen in the terminal");
  report->add_flag("--json", request->json, "Print all figures as JSON");
  report
      ->add_option("--machine", request->machine,
                   "Simulate advice about allocations on this model, and say how much of its time the run then takes")
      ->type_name("MACHINE");
  report->callback([request] { end_with(report_main(*request)); });
}

void register_export(CLI::App& app) {
  const auto request = std::make_shared<ExportRequest>();
  CLI::App* export_ = app.add_subcommand("export", "Convert a recording for other viewers");
  export_->add_option("file", request->file, "A recording of hearth record")->required()->type_name("FILE");
  export_->add_option("--perfetto", request->perfetto, "Chrome's trace JSON, for Perfetto")->type_name("FILE");
  export_->add_option("--paraver", request->paraver, "Paraver's .prv, with .pcf and .row beside it")->type_name("FILE");
  export_->callback([request] {
    if (request->perfetto.empty() && request->paraver.empty()) throw CLI::RequiredError("--perfetto or --paraver");
    end_with(export_main(*request));
  });
}

void register_sim(CLI::App& app) {
  const auto request = std::make_shared<SimRequest>();
  CLI::App* sim = app.add_subcommand("sim",
                                     "Simulate a recorded program or a benchmark on a machine, under several "
                                     "policies and distributions of its data");
  sim->add_option("program", request->program,
                  "What is simulated: a file of hearth record, or a name that --list tells");
  sim->add_flag("--list", request->list, "Print the programs and their settings");
  sim->add_option("--machine", request->machine, "A model's name, or a model file (.toml)")->type_name("MACHINE");
  sim->add_option("--policy", request->policies, "Policies: default,work-stealing,locality,...")
      ->delimiter(',')
      ->type_name("P,...");
  sim->add_option("--distribution", request->distributions, "Distributions of the data: fine,coarse,...")
      ->delimiter(',')
      ->type_name("D,...");
  sim->add_flag("--advise", request->advise,
                "Search the distribution of each allocation, and of several policies the best");
  sim->add_option("--set", request->settings, "A setting of the program; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  sim->add_option("--threads", request->threads, "Threads of the simulated program, not of the simulation")
      ->check(numbers(1, 1 << 20));
  sim->add_option("--seeds", request->draws, "How often each is simulated, over the ranges in the model")
      ->check(numbers(1, 10'000));
  sim->add_option("--first-seed", request->first_seed, "Draw others")->check(numbers(0, INT64_MAX));
  sim->add_flag("--nominal", request->nominal, "Take the model's values, and draw nothing from its ranges");
  sim->add_option("--significance", request->significance, "When a task is worth dealing: gain or paper");
  sim->add_option("--steal-threshold", request->threshold, "When far tasks are stolen: hops, slit or none");
  sim->add_option("--vicinity", request->vicinity,
                  "How many neighbouring home caches share their work: 1, 4, 8, 16 or all");
  sim->add_option("--seating", request->seating, "Where threads are: close, spread or one-per-location");
  sim->add_option("--allocations-before", request->allocations_before,
                  "Distributed allocations that the program has made before; coarse goes on from there");
  sim->add_option(
      "--caches", request->caches,
      "What the initial thread's last-level cache begins with: cold (nothing) or warm (what it has filled)");
  sim->add_option("--log-decisions", request->decisions,
                  "Write what the policy decides, in one more run without races, to this file")
      ->type_name("FILE");
  sim->add_option("--record", request->recording,
                  "Write one more run, with one policy and one distribution, to this file as hearth record would; for hearth "
                  "report and hearth export")
      ->type_name("FILE");
  sim->add_option("--json", request->json, "Write all results to this file, or with - to standard output")
      ->type_name("FILE|-");
  sim->callback([request] { end_with(sim_main(*request)); });
}

void register_map(CLI::App& app) {
  const auto request = std::make_shared<MapRequest>();
  CLI::App* map = app.add_subcommand("map", "Compare mappers: which thread on which core");
  map->add_option("graph", request->graph,
                  "Threads and what they exchange: Matrix Market, DOT, METIS, JSON of hearth cc, or a recording");
  map->add_flag("--list", request->list, "Print the mappers");
  map->add_option("--machine", request->machine,
                  "A model's name, a model file (.toml), an hwloc XML file (.xml) or an hwloc synthetic string; "
                  "default: this machine")
      ->type_name("MACHINE");
  map->add_option("--mapper", request->mappers, "Mappers: treematch,scotch,...; default: all")
      ->delimiter(',')
      ->type_name("M,...");
  map->add_option("--places", request->places, "What threads are put on: cores or threads (hardware threads)")
      ->type_name("cores|threads");
  map->add_option("--json", request->json, "Write all results to this file, or with - to standard output")
      ->type_name("FILE|-");
  map->callback([request] {
    if (request->graph.empty() && !request->list) throw CLI::RequiredError("a graph, or --list");
    end_with(map_main(*request));
  });
}

}  // namespace

void register_readers(CLI::App& app) {
  register_report(app);
  register_export(app);
  register_map(app);
  register_sim(app);
}

}  // namespace hearth::cli
