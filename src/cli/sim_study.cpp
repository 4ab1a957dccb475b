// See sim_study.h.
#include "cli/sim_study.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/output.h"
#include "policy/policies.h"
#include "replay/recording_file.h"
#include "replay/recording_workload.h"
#include "runtime/settings/settings.h"
#include "sim/workload/generators.h"
#include "topology/current.h"

namespace hearth::cli {
namespace {

using placement::Kind;

// The search sees other draws than those that are told, and fewer.
constexpr std::uint64_t kSearchedSeed = 1'000'000;
constexpr std::uint32_t kSearchedDraws = 5;

constexpr std::pair<const char*, Kind> kDistributions[] = {
    {"standard", Kind::standard}, {"fine", Kind::fine}, {"coarse", Kind::coarse}, {"blocked", Kind::blocked}};
constexpr const char* kInterleaved = "interleaved";  // all memory, as numactl --interleave does
constexpr std::string_view kSeatings[] = {"close", "spread", "one-per-location"};  // as sim::Seating
constexpr std::string_view kCaches[] = {"cold", "warm"};

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
  std::vector<std::string> names{"default"};  // what a program gets that says nothing: the first of the others
  for (std::size_t i = 0; policy::policy_at(i) != nullptr; ++i)
    names.emplace_back(policy::policy_at(i)->name());
  return names;
}

const policy::TaskPolicy* policy_of(const std::string& name) {
  const std::size_t index = index_of("--policy", name, policy_names());
  return policy::policy_at(index == 0 ? 0 : index - 1);
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kDistributions) names.emplace_back(name);
  names.emplace_back(kInterleaved);
  return names;
}

SimulatedMachine load_model(const std::string& description) {
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
sim::Workload make_workload(const SimRequest& request, bool& allocations_known) {
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

sim::RunOptions options_of(const SimRequest& request, const Way& way) {
  sim::RunOptions options;
  options.policy = policy_of(way.policy);
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

}  // namespace

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const sim::Generator& generator : sim::generators()) names.emplace_back(generator.name);
  return names;
}

Study plan(const SimRequest& request) {
  if (request.advise && !request.distributions.empty())
    refuse("--distribution", joined(request.distributions), "--advise finds them; leave one of both out");
  if (request.advise && !request.decisions.empty())
    refuse("--log-decisions", request.decisions, "logs one policy with one distribution; leave --advise out");
  if (request.advise && !request.recording.empty())
    refuse("--record", request.recording, "records one policy with one distribution; leave --advise out");
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
    const Words policies = request.policies.empty() ? Words{"work-stealing", "default"} : request.policies;
    const Words kinds = request.distributions.empty() ? Words{"fine", "coarse"} : request.distributions;
    study.ways.push_back({policy::work_stealing.name(), "fine"});
    if (!request.decisions.empty() && policies.size() * kinds.size() != 1)
      refuse("--log-decisions", request.decisions, "logs one policy with one distribution; name one of each");
    if (!request.recording.empty() && policies.size() * kinds.size() != 1)
      refuse("--record", request.recording, "records one policy with one distribution; name one of each");
    for (const std::string& word : policies) {
      const std::string policy = policy_of(word)->name();
      for (const std::string& distribution : kinds) {
        if (policy != study.ways[0].policy || distribution != study.ways[0].distribution)
          study.ways.push_back({policy, distribution});
      }
    }
  }
  for (const Way& way : study.ways) study.options.push_back(options_of(request, way));
  return study;
}

sim::SearchRequest plan_search(const SimRequest& request, const Study& study) {
  sim::SearchRequest search;
  search.workload = &study.workload;
  search.machine = &study.model.machine;
  search.parameters = &study.model.parameters;
  search.options = study.options[0];
  if (request.policies.empty()) search.policies.push_back(&policy::adaptive);
  for (const std::string& name : request.policies)
    search.policies.push_back(policy_of(name));
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

}  // namespace hearth::cli
