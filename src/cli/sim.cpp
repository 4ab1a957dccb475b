// `hearth sim`: a table of simulated times, by policy and distribution; with --advise those of the
// distribution that a search has found. The simulating and searching are sim/'s; here its arguments are read,
// and its results written.
//
// The main thread waits for sweep()'s threads, draws the progress bar and looks for an interrupt; the signal
// handler only sets a flag.
#include "cli/sim.h"

#include <cstdio>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/decision_log.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "replay/recording_file.h"
#include "replay/recording_workload.h"
#include "cli/sim_advice.h"
#include "policy/policies.h"
#include "runtime/settings/settings.h"
#include "sim/workload/generators.h"
#include "sim/study/search.h"
#include "sim/study/sweep.h"
#include "topology/current.h"

namespace hearth::cli {
namespace {

using placement::Kind;
using Json = nlohmann::ordered_json;

constexpr double kPicosecondsPerMillisecond = 1e9;

/// What is wrong with the arguments.
struct UsageError {
  std::string text;
};

struct Request {
  std::string program;                // a generator's name
  std::vector<std::string> settings;  // of the generator: name=value
  std::string machine;
  std::vector<std::string> policies, distributions;  // empty: the defaults
  bool advise = false;
  std::string significance = "gain";
  std::string threshold = "hops";
  std::string vicinity = "all";
  std::string seating = "close";
  std::string caches = "cold";
  std::uint64_t allocations_before = 0;
  std::uint32_t threads = 0;  // of the simulated program; 0: the machine's default
  std::uint32_t draws = 20;
  bool nominal = false;
  std::uint64_t first_seed = 1;
  std::string json;       // a file, or "-"
  std::string decisions;  // a file
  bool list = false;
};

// ---- words

constexpr std::pair<const char*, Kind> kDistributions[] = {
    {"standard", Kind::standard}, {"fine", Kind::fine}, {"coarse", Kind::coarse}, {"blocked", Kind::blocked}};
constexpr const char* kInterleaved = "interleaved";  // all memory, as numactl --interleave does
constexpr std::string_view kSeatings[] = {"close", "spread", "one-per-location"};  // as sim::Seating
constexpr std::string_view kCaches[] = {"cold", "warm"};

template <class Words>
std::string joined(const Words& words) {
  std::string list;
  for (const auto& word : words) list += (list.empty() ? "" : ", ") + std::string(word);
  return list;
}

[[noreturn]] void refuse(const char* option, const std::string& value, const std::string& why) {
  throw UsageError{fmt::format("{}=\"{}\": {}", option, value, why)};
}

template <class Words>
std::size_t index_of(const char* option, const std::string& value, const Words& words) {
  std::size_t index = 0;
  for (const auto& word : words) {
    if (value == word) return index;
    ++index;
  }
  refuse(option, value, "unknown; legal: " + joined(words));
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; policy::policy_at(i) != nullptr; ++i)
    names.emplace_back(policy::policy_at(i)->name());
  return names;
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kDistributions) names.emplace_back(name);
  names.emplace_back(kInterleaved);
  return names;
}

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const sim::Generator& generator : sim::generators()) names.emplace_back(generator.name);
  return names;
}

// ---- what is simulated

struct Way {
  std::string policy;
  std::string distribution;
};

struct Model {
  topology::Machine machine;
  sim::Parameters parameters;
};

struct Study {
  sim::Workload workload;
  Model model;
  std::vector<Way> ways;  // [0]: what the others are compared with
  std::vector<sim::RunOptions> options;
  sim::Searched advice;  // with --advise
  bool allocations_known = true;
};

// The ways of --advise: their places, and the words for distributions that differ by allocation.
constexpr std::size_t kByRules = 2;
constexpr const char *kRules = "by the rules", *kAdvised = "advised";
// The search sees other draws than those that are told, and fewer.
constexpr std::uint64_t kSearchedSeed = 1'000'000;
constexpr std::uint32_t kSearchedDraws = 5;

Model load_model(const std::string& description) {
  if (description.empty()) {
    throw UsageError{
        fmt::format("--machine is needed; legal: a model file (.toml), or the name of a model: {}",
                    topology::model_names(topology::model_folders()))};
  }
  topology::LoadedMachine loaded = topology::load_machine(description, topology::model_folders());
  if (!loaded.ok()) refuse("--machine", description, loaded.error);
  if (loaded.machine.source != topology::Source::model) {
    refuse("--machine", description,
           fmt::format(
               "this describes how the machine is made and not how fast it is; legal: a model file (.toml), "
               "or the name of a model: {}",
               topology::model_names(topology::model_folders())));
  }
  sim::LoadedParameters parameters = sim::load_parameters(loaded.machine.origin, loaded.machine);
  if (!parameters.ok()) refuse("--machine", description, parameters.error());
  return {std::move(loaded.machine), std::move(parameters.parameters)};
}

/// `allocations_known` becomes false for a recording that does not tell them.
sim::Workload make_workload(const Request& request, bool& allocations_known) {
  if (request.program.empty())
    throw UsageError{fmt::format("a program is needed; legal: {}", joined(program_names()))};
  const sim::Generator* generator = sim::find_generator(request.program);
  if (generator == nullptr && (request.program.ends_with(".db") || replay::is_recording(request.program))) {
    if (!request.settings.empty()) refuse("--set", request.settings[0], "a recording has no settings");
    replay::RecordedWorkload recorded = replay::load_workload(request.program);
    if (!recorded.ok()) throw UsageError{recorded.error};
    if (!recorded.remarks.empty()) say("sim: {}", recorded.remarks);
    allocations_known = recorded.knows_allocations;
    return std::move(recorded.workload);
  }
  if (generator == nullptr) {
    throw UsageError{
        fmt::format("\"{}\": there is no such program to simulate; legal: a file of hearth record, {}",
                    request.program, joined(program_names()))};
  }
  sim::Generated generated = sim::generate(*generator, request.settings);
  if (!generated.ok()) throw UsageError{fmt::format("--set: {}: {}", request.program, generated.error)};
  return std::move(generated.workload);
}

sim::RunOptions options_of(const Request& request, const Way& way) {
  sim::RunOptions options;
  options.policy = policy::policy_at(index_of("--policy", way.policy, policy_names()));
  const std::size_t kind = index_of("--distribution", way.distribution, distribution_names());
  options.everything = kind == std::size(kDistributions);
  options.distribution.kind = options.everything ? Kind::fine : kDistributions[kind].second;
  options.significance = static_cast<policy::Significance>(
      index_of("--significance", request.significance, rt::kSignificanceNames));
  options.threshold =
      static_cast<policy::Threshold>(index_of("--steal-threshold", request.threshold, rt::kThresholdNames));
  options.vicinity = rt::kVicinities[index_of("--vicinity", request.vicinity, rt::kVicinityNames)];
  options.seating = static_cast<sim::Seating>(index_of("--seating", request.seating, kSeatings));
  options.warm = index_of("--caches", request.caches, kCaches) == 1;
  options.allocations_before = request.allocations_before;
  options.threads = request.threads;
  return options;
}

Study plan(const Request& request) {
  if (request.advise && !request.distributions.empty())
    refuse("--distribution", joined(request.distributions), "--advise finds them; leave one of both out");
  if (request.advise && !request.decisions.empty())
    refuse("--log-decisions", request.decisions, "logs one policy with one distribution; leave --advise out");
  Study study;
  study.workload = make_workload(request, study.allocations_known);
  study.model = load_model(request.machine);
  const std::size_t most = study.model.machine.usable.count();
  if (request.threads > most)
    refuse("--threads", std::to_string(request.threads), fmt::format("the machine has {} CPUs", most));
  if (request.advise) {
    study.ways = {{policy::work_stealing.name(), "standard"}};
  } else {
    using Words = std::vector<std::string>;
    const Words policies = request.policies.empty() ? Words{"work-stealing", "locality"} : request.policies;
    const Words kinds = request.distributions.empty() ? Words{"fine", "coarse"} : request.distributions;
    study.ways.push_back({policy::work_stealing.name(), "fine"});
    if (!request.decisions.empty() && policies.size() * kinds.size() != 1)
      refuse("--log-decisions", request.decisions, "logs one policy with one distribution; name one of each");
    for (const std::string& policy : policies) {
      for (const std::string& distribution : kinds) {
        if (policy != study.ways[0].policy || distribution != study.ways[0].distribution)
          study.ways.push_back({policy, distribution});
      }
    }
  }
  for (const Way& way : study.ways) study.options.push_back(options_of(request, way));
  return study;
}

sim::SearchRequest plan_search(const Request& request, const Study& study) {
  sim::SearchRequest search;
  search.workload = &study.workload;
  search.machine = &study.model.machine;
  search.parameters = &study.model.parameters;
  search.options = study.options[0];
  if (request.policies.empty()) search.policies.push_back(&policy::adaptive);
  for (const std::string& name : request.policies)
    search.policies.push_back(policy::policy_at(index_of("--policy", name, policy_names())));
  search.draws = std::min(request.draws, kSearchedDraws);
  search.nominal = request.nominal;
  search.first_seed = request.first_seed + kSearchedSeed;
  search.threads = topology::allowance().default_team_size();
  return search;
}

void compare_advice(Study& study) {
  const std::string policy = study.advice.policy->name();
  const auto add = [&](const char* distribution, std::vector<Kind> by_region) {
    sim::RunOptions& options = study.options.emplace_back(study.options[0]);
    study.ways.push_back({policy, distribution});
    options.policy = study.advice.policy;
    options.by_region = std::move(by_region);
  };
  add("standard", {});
  add(kRules, study.advice.by_rules);
  add(kAdvised, study.advice.by_region);
}

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

sim::Sweep simulate_all(const Request& request, const Study& study) {
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

// ---- results

/// One way's figures, each over the draws.
struct Figures {
  std::vector<double> ms, ratio, local, busy, far;
};

/// Share of the threads' time in which bodies of tasks ran.
double busy_share(const sim::Result& result) {
  double work = 0;
  for (const sim::WorkerResult& worker : result.workers) work += static_cast<double>(worker.work);
  const double all = static_cast<double>(result.makespan) * static_cast<double>(result.workers.size());
  return all > 0 ? work / all : 0;
}

Figures figures_of(const std::vector<sim::Result>& results, const std::vector<sim::Result>& reference) {
  Figures figures;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const sim::Result& result = results[i];
    const auto time = static_cast<double>(result.makespan);
    figures.ms.push_back(time / kPicosecondsPerMillisecond);
    figures.ratio.push_back(time / static_cast<double>(reference[i].makespan));
    figures.local.push_back(result.local_share());
    figures.busy.push_back(busy_share(result));
    figures.far.push_back(static_cast<double>(result.far_steals));
  }
  return figures;
}

/// "1.23 (1.10 - 1.31)"
std::string band_text(const std::vector<double>& values, const char* format) {
  const sim::Band band = sim::band_of(values);
  const auto text = [format](double value) { return fmt::format(fmt::runtime(format), value); };
  return text(band.low) == text(band.high)
             ? text(band.median)
             : fmt::format("{} ({} - {})", text(band.median), text(band.low), text(band.high));
}

/// "21.96 s (20.1 - 23.4)", in the unit that suits the median.
std::string time_text(const std::vector<double>& ms) {
  struct Unit {
    const char* name;
    double per_ms;
  };
  const double median = sim::band_of(ms).median;
  const Unit unit = median >= 1000 ? Unit{"s", 1e-3} : median >= 1 ? Unit{"ms", 1} : Unit{"us", 1e3};
  std::vector<double> values;
  for (const double value : ms) values.push_back(value * unit.per_ms);
  std::string text = band_text(values, "{:.4g}");
  return text.insert(text.find(' ') == std::string::npos ? text.size() : text.find(' '), fmt::format(" {}", unit.name));
}

/// What the heads of the table mean.
std::string legend(const Request& request, const std::string& by_first) {
  std::string text = fmt::format("\n{}: time / time of the first row; below 1 is faster\n", by_first);
  if (request.advise) text += fmt::format("{}: time / time of that row\n", kRules);
  return text +
         "local: part of the bytes from memory that come from the thread's own location\n"
         "busy: part of the threads' time in which tasks run\n"
         "far steals: tasks that were stolen from other locations\n";
}

std::uint32_t threads_of(const sim::Sweep& sweep) {
  return static_cast<std::uint32_t>(sweep.results[0][0].workers.size());
}

std::string table(const Request& request, const Study& study, const sim::Sweep& sweep) {
  const std::string by_first = fmt::format("by stealing + {}", study.ways[0].distribution);
  std::vector<std::vector<std::string>> rows = {
      {"policy", "distribution", "time", by_first, "local", "busy", "far steals"}};
  if (request.advise) rows[0].insert(rows[0].begin() + 4, kRules);
  for (std::size_t way = 0; way < study.ways.size(); ++way) {
    const Figures figures = figures_of(sweep.results[way], sweep.results[0]);
    rows.push_back({study.ways[way].policy, study.ways[way].distribution, time_text(figures.ms),
                    band_text(figures.ratio, "{:.2f}"),
                    fmt::format("{:.0f} %", 100 * sim::band_of(figures.local).median),
                    fmt::format("{:.0f} %", 100 * sim::band_of(figures.busy).median),
                    fmt::format("{:.0f}", sim::band_of(figures.far).median)});
    if (!request.advise) continue;
    const Figures by_rules = figures_of(sweep.results[way], sweep.results[kByRules]);
    rows.back().insert(rows.back().begin() + 4, band_text(by_rules.ratio, "{:.2f}"));
  }
  std::string text =
      fmt::format("{} on {}: {}, {}", study.workload.name, study.model.machine.name,
                  counted(study.workload.tasks.size() - 1, "task"), counted(threads_of(sweep), "thread"));
  const std::size_t ranges = request.nominal ? 0 : study.model.parameters.ranges().size();
  text += request.draws == 1 ? "\n" : fmt::format("; median (5 % - 95 %) of {} seeds", request.draws);
  if (request.draws != 1)
    text += ranges == 0 ? "\n" : fmt::format(" over {} figures that are known as ranges\n", ranges);
  if (study.workload.unexplained > 0) {
    text += fmt::format("{:.0f} % of the tasks' time is not explained by what they are known to touch.\n",
                        100 * study.workload.unexplained);
  }
  text += '\n' + aligned(rows) + legend(request, by_first);
  if (request.advise) text += advice_text(study.workload, study.advice, study.allocations_known);
  return text;
}

Json band_json(const std::vector<double>& values) {
  const sim::Band band = sim::band_of(values);
  return {{"median", band.median}, {"low", band.low}, {"high", band.high}};
}

Json run_json(const sim::Result& result, double ratio) {
  double work = 0, create = 0, search = 0, wait = 0;
  for (const sim::WorkerResult& worker : result.workers) {
    work += static_cast<double>(worker.work);
    create += static_cast<double>(worker.create);
    search += static_cast<double>(worker.search);
    wait += static_cast<double>(worker.wait);
  }
  constexpr double kPerMs = kPicosecondsPerMillisecond;
  return {{"ms", static_cast<double>(result.makespan) / kPerMs},
          {"ratio", ratio},
          {"bytes", result.bytes()},
          {"local_share", result.local_share()},
          {"weighted_remote_bytes", result.weighted_remote},
          {"cache_hit_bytes", result.cache_hits},
          {"steals", result.steals},
          {"far_steals", result.far_steals},
          {"deals", result.deals},
          {"threads_ms",
           {{"work", work / kPerMs},
            {"create", create / kPerMs},
            {"search", search / kPerMs},
            {"wait", wait / kPerMs}}}};
}

Json results_json(const Request& request, const Study& study, const sim::Sweep& sweep) {
  Json json;
  json["program"] = study.workload.name;
  json["settings"] = request.settings;
  json["tasks"] = study.workload.tasks.size() - 1;
  json["allocations"] = std::count_if(study.workload.regions.begin(), study.workload.regions.end(),
                                      [](const sim::Region& region) { return region.distributed; });
  json["unexplained"] = study.workload.unexplained;
  json["machine"] = study.model.machine.name;
  json["model"] = study.model.machine.origin;
  json["threads"] = threads_of(sweep);
  json["significance"] = request.significance;
  json["steal_threshold"] = request.threshold;
  json["vicinity"] = request.vicinity;
  json["seating"] = request.seating;
  json["caches"] = request.caches;
  json["allocations_before"] = request.allocations_before;
  json["seeds"] = request.draws;
  json["first_seed"] = request.first_seed;
  json["ranges"] = request.nominal ? std::vector<std::string>() : study.model.parameters.ranges();
  json["draws"] = sweep.units;
  if (request.advise) json["advice"] = advice_json(study.workload, study.advice);
  json["ways"] = Json::array();
  for (std::size_t way = 0; way < study.ways.size(); ++way) {
    const Figures figures = figures_of(sweep.results[way], sweep.results[0]);
    Json one = {{"policy", study.ways[way].policy},
                {"distribution", study.ways[way].distribution},
                {"ms", band_json(figures.ms)},
                {"ratio", band_json(figures.ratio)},
                {"local_share", band_json(figures.local)},
                {"busy_share", band_json(figures.busy)},
                {"runs", Json::array()}};
    for (std::size_t i = 0; i < figures.ms.size(); ++i)
      one["runs"].push_back(run_json(sweep.results[way][i], figures.ratio[i]));
    json["ways"].push_back(std::move(one));
  }
  return json;
}

int write_results(const Request& request, const Study& study, const sim::Sweep& sweep) {
  if (request.json != "-") put_text(stdout, table(request, study, sweep));
  if (request.json.empty()) return 0;
  return write_file(request.json, results_json(request, study, sweep).dump(1) + '\n') ? 0 : kExitFailed;
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

// ---- arguments

/// A check: whole numbers in this range.
auto numbers(std::int64_t least, std::int64_t most) {
  return [least, most](const std::string& text) {
    const auto parsed = parse_integer(text, least, most);
    if (parsed) return std::string();
    return fmt::format("\"{}\": {} at column {}; legal: {} to {}", text, parse_failure_text(parsed.failure),
                       parsed.column(), least, most);
  };
}

int run(const Request& request) {
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
    if (would_destroy(*output, request.program) || would_destroy(*output, study.model.machine.origin)) return kExitUsage;
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

}  // namespace

void register_sim(CLI::App& app) {
  const auto request = std::make_shared<Request>();
  CLI::App* sim = app.add_subcommand("sim",
                                     "Simulate a recorded program or a benchmark on a machine, under several "
                                     "policies and distributions of its data");
  sim->add_option("program", request->program,
                  "What is simulated: a file of hearth record, or a name that --list tells");
  sim->add_flag("--list", request->list, "Print the programs and their settings");
  sim->add_option("--machine", request->machine, "A model's name, or a model file (.toml)")
      ->type_name("MACHINE");
  sim->add_option("--policy", request->policies, "Policies: work-stealing,locality,...")
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
  sim->add_option("--json", request->json, "Write all results to this file, or with - to standard output")
      ->type_name("FILE|-");
  sim->callback([request] {
    if (const int status = run(*request); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace hearth::cli
