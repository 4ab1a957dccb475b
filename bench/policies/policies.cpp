// policies: each policy against work stealing with the same distribution, on programs that are drawn from seeds, simulated, as
// JSON. bench/policies/run makes a page of it.
//
// Program i of a run is drawn from the seed `--seed` + i and runs on the i-th machine of the list, round and round. A program is
// visited several times, each time with other values of what is not known of its machine (a point in the model's ranges) and
// other races; all policies of a visit see the same. The output depends on nothing but the model files and the arguments:
// threads take programs as they come, and each writes its own slot.
#include <algorithm>
#include <span>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "adaptive/study.h"
#include "policies/learning.h"
#include "policy/policies.h"
#include "sim/engine/engine.h"
#include "sim/study/search.h"
#include "sim/workload/generators.h"

namespace hearth::policies {
namespace {

using Json = nlohmann::ordered_json;
using placement::Kind;

struct Arguments {
  std::string models = "models";
  std::string out;
  std::vector<std::string> machines = {"opteron-8347hex4", "xeon-e5-2630v2x2", "xeon-spr-snc4x2",
                                       "opteron-6172x4",   "epyc-9654x2-nps4", "tilepro64"};
  std::vector<std::string> policies = {"adaptive"};
  std::vector<std::string> distributions = {"standard", "fine", "coarse"};
  std::vector<std::string> settings;  // of the generator, for all programs
  std::string earlier = "none";  // what the accounts of task constructs begin with
  std::uint64_t seed = 1;
  std::uint32_t programs = 60;
  std::uint32_t draws = 5;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

const Kind* distribution_named(const std::string& name) {
  const std::span<const Kind> kinds = sim::searched_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](Kind kind) { return placement::kind_name(kind) == name; });
  return found == kinds.end() ? nullptr : &*found;
}

// A policy with a distribution, or with what is learned in three runs.
struct Way {
  const policy::TaskPolicy* policy;
  std::string distribution;
};

std::vector<Way> all_ways(const Arguments& arguments) {
  std::vector<Way> ways;
  for (const std::string& distribution : arguments.distributions) {
    ways.push_back({&policy::work_stealing, distribution});
    for (const std::string& name : arguments.policies) ways.push_back({policy::find_policy(name.c_str()), distribution});
  }
  return ways;
}

// What makes programs differ, for who wants to know why a case comes out as it does.
Json properties_of(const sim::Workload& workload) {
  double bytes = 0, cycles = 0, declared = 0;
  for (const sim::Region& region : workload.regions) bytes += static_cast<double>(region.bytes);
  for (const sim::Work& work : workload.works) cycles += static_cast<double>(work.cycles);
  for (const sim::Access& access : workload.accesses) declared += access.declared;
  constexpr const char* kTouches[] = {"initial thread", "by parts", "by writer"};
  return {{"tasks", workload.tasks.size() - 1},
          {"mib", study::rounded(bytes / (1 << 20))},
          {"kilocycles", study::rounded(cycles / 1000 / static_cast<double>(workload.tasks.size()))},
          {"declared", study::rounded(declared / std::max<double>(1, static_cast<double>(workload.accesses.size())))},
          {"first_touch", kTouches[static_cast<std::size_t>(workload.regions.front().first_touch)]}};
}

Json run_case(std::uint32_t number, const Arguments& arguments, const std::vector<Way>& ways, const study::Model& model) {
  std::vector<std::string> settings = {"shapes=all", fmt::format("seed={}", arguments.seed + number)};
  settings.insert(settings.end(), arguments.settings.begin(), arguments.settings.end());
  const sim::Generated generated = sim::generate(*sim::find_generator("random"), settings);
  Json made = {{"machine", arguments.machines[number % arguments.machines.size()]}, {"seed", arguments.seed + number}};
  if (!generated.ok()) {
    made["refused"] = generated.error;
    return made;
  }
  made["shape"] = generated.workload.kinds.at(1);
  made["properties"] = properties_of(generated.workload);
  for (const Way& way : ways) {
    Json ms = Json::array();
    std::vector<double> local;
    for (std::uint32_t draw = 0; draw < arguments.draws; ++draw) {
      sim::RunOptions options;
      options.policy = way.policy;
      if (const Kind* const kind = distribution_named(way.distribution)) options.distribution.kind = *kind;
      options.seed = draw + 1;
      const Program program = {generated.workload, model.machine, model.draws[draw]};
      const sim::Result result = way.distribution == kLearned ? third_run(program, options)
                                                              : run_with(program, arguments.earlier, options);
      ms.push_back(study::rounded(static_cast<double>(result.makespan) / 1e9));
      local.push_back(result.local_share());
    }
    made["runs"][way.distribution][way.policy->name()] = {
        {"ms", std::move(ms)}, {"local", study::rounded(sim::band_of(local).median)}};
  }
  return made;
}

void run(const Arguments& arguments) {
  study::Models models("policies", arguments.models, arguments.draws);
  std::vector<const study::Model*> machines;
  for (const std::string& machine : arguments.machines) machines.push_back(&models.named(machine));
  const std::vector<Way> ways = all_ways(arguments);
  std::vector<Json> made(arguments.programs);
  study::run_all("policies", made.size(), arguments.threads, [&](std::size_t number) {
    made[number] = run_case(static_cast<std::uint32_t>(number), arguments, ways, *machines[number % machines.size()]);
  });
  const Json all = {{"seed", arguments.seed}, {"draws", arguments.draws}, {"cases", made}};
  study::write("policies", all.dump(1) + "\n", arguments.out);
}

std::string known_policy(const std::string& name) {
  return policy::find_policy(name.c_str()) != nullptr ? "" : fmt::format("there is no policy \"{}\"", name);
}
std::string known_distribution(const std::string& name) {
  return name == kLearned || distribution_named(name) != nullptr ? "" : fmt::format("there is no distribution \"{}\"", name);
}

}  // namespace
}  // namespace hearth::policies

int main(int count, char** words) {
  hearth::policies::Arguments arguments;
  CLI::App app("Simulates policies and work stealing on random programs; prints JSON.", "policies");
  app.add_option("--models", arguments.models, "the folder of the machine models")->capture_default_str();
  app.add_option("--out", arguments.out, "the file to write; standard output if none");
  app.add_option("--machines", arguments.machines, "models, which programs run on in turn")->delimiter(',')->capture_default_str();
  app.add_option("--policies", arguments.policies, "beside work-stealing")
      ->delimiter(',')
      ->check(hearth::policies::known_policy)
      ->capture_default_str();
  app.add_option("--distributions", arguments.distributions, "of all allocations; learned: what three runs learn")
      ->delimiter(',')
      ->check(hearth::policies::known_distribution)
      ->capture_default_str();
  app.add_option("--earlier", arguments.earlier,
                 "what accounts begin with: none; own: what two runs before have shown; wrong: that no task loses anything elsewhere")
      ->check(CLI::IsMember({"none", "own", "wrong"}))
      ->capture_default_str();
  app.add_option("--set", arguments.settings, "name=value of the generator `random`, for all programs");
  app.add_option("--seed", arguments.seed, "of the first program")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--programs", arguments.programs, "how many")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--draws", arguments.draws, "visits of each program")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--threads", arguments.threads, "that simulate")->check(CLI::Range(1, 1024))->capture_default_str();
  CLI11_PARSE(app, count, words);
  hearth::policies::run(arguments);
}
