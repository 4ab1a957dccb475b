// adaptive: every case of cases.h under every fixed combination of policy and distribution and under
// `adaptive`, simulated, as JSON.
//
// A case is visited several times, each time with other values of what is not known of its machine (a point
// in the model's ranges) and other races; all combinations of a visit see the same. The output depends on
// nothing but the model files and the arguments: threads take runs as they come, and each writes its own
// slot. bench/adaptive/run makes a page of it.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "adaptive/cases.h"
#include "adaptive/study.h"
#include "policy/policies.h"
#include "sim/study/advice.h"
#include "sim/engine/engine.h"
#include "sim/workload/generators.h"
#include "sim/study/search.h"
#include "sim/study/sweep.h"

namespace hearth::adaptive {
namespace {

using Json = nlohmann::ordered_json;
using placement::Kind;

struct Arguments {
  std::string models = "models";
  std::string out;
  std::string only;    // a set; empty: all but the tuning set
  bool apart = false;  // also `adaptive` with each one distribution
  bool search = true;
  std::uint32_t draws = 7;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

/// A combination of policy and distribution.
struct Way {
  /// Which distribution: one for all; each allocation as the rules advise, or as a search has found; or the
  /// policy, too.
  enum class By { all, rules, search, search_of_both };

  const policy::TaskPolicy* policy;
  Kind distribution = Kind::standard;
  By by = By::all;

  std::string name() const {
    switch (by) {
      case By::all: return fmt::format("{} + {}", policy->name(), placement::kind_name(distribution));
      case By::rules: return fmt::format("{} + advised", policy->name());
      case By::search: return fmt::format("{} + searched", policy->name());
      case By::search_of_both: return "searched + searched";
    }
    __builtin_unreachable();
  }
};

struct Case {
  std::string_view set;
  std::string machine;
  std::string program;
  const study::Model* model = nullptr;
  sim::Workload workload;
  std::vector<Kind> advice;
  sim::Searched search, search_of_both;
  std::vector<std::vector<double>> ms;     // by way, by draw
  std::vector<std::vector<double>> local;  // share of the bytes
};

// The fixed ones first; then `adaptive`, what of it the distributions alone do, and what a search gains.
std::vector<Way> all_ways(const Arguments& arguments) {
  std::vector<Way> ways;
  for (const policy::TaskPolicy* policy : {&policy::work_stealing, &policy::locality, &policy::home_cache})
    for (const Kind kind : {Kind::standard, Kind::fine, Kind::coarse}) ways.push_back({policy, kind});
  ways.push_back({&policy::adaptive, Kind::standard, Way::By::rules});
  ways.push_back({&policy::work_stealing, Kind::standard, Way::By::rules});
  if (arguments.search) {
    ways.push_back({&policy::adaptive, Kind::standard, Way::By::search});
    ways.push_back({nullptr, Kind::standard, Way::By::search_of_both});
  }
  if (arguments.apart)
    for (const Kind kind : {Kind::standard, Kind::fine, Kind::coarse, Kind::blocked, Kind::nearest})
      ways.push_back({&policy::adaptive, kind});
  return ways;
}

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "adaptive: {}\n", what);
  std::exit(1);
}

Case make_case(std::string_view set, std::string_view machine, std::string_view generator,
               const std::string& setting, study::Models& models) {
  Case made{set, std::string(machine), fmt::format("{} {}", generator, setting), {}, {}, {}, {}, {}, {}, {}};
  made.model = &models.named(made.machine);
  sim::Generated generated = sim::generate(*sim::find_generator(generator), {setting});
  if (!generated.ok()) fail(fmt::format("{}: {}", made.program, generated.error));
  made.workload = std::move(generated.workload);
  return made;
}

// On other draws than those that are reported.
constexpr std::uint64_t kSearchedSeed = 1'000'000;

sim::Searched searched(const Case& one, std::vector<const policy::TaskPolicy*> policies) {
  sim::SearchRequest request;
  request.workload = &one.workload;
  request.machine = &one.model->machine;
  request.parameters = &one.model->parameters;
  request.policies = std::move(policies);
  request.first_seed = kSearchedSeed;
  return sim::search(request);
}

std::vector<Case> all_cases(const Arguments& arguments, study::Models& models) {
  std::vector<Case> cases;
  const auto wanted = [&](std::string_view set) {
    return arguments.only.empty() ? set != "tuning" && set != "tiny" : arguments.only == set;
  };
  const auto add = [&](std::string_view set, std::span<const Cases> all) {
    if (!wanted(set)) return;
    for (const Cases& some : all)
      for (std::uint32_t i = 0; i < some.count; ++i)
        cases.push_back(
            make_case(set, some.machine, "random", fmt::format("seed={}", some.first_seed + i), models));
  };
  add("tuning", kTuning);
  add("reporting", kReporting);
  add("other-seeds", kOtherSeeds);
  add("tiny", kTiny);
  if (wanted("benchmarks"))
    for (const std::string_view name : kBenchmarks)
      cases.push_back(make_case("benchmarks", kBenchmarkMachine, name, "inputs=paper", models));
  return cases;
}

void advise_all(std::vector<Case>& cases, const Arguments& arguments) {
  study::run_all(arguments.search ? "adaptive: searching" : "adaptive: advising", cases.size(), arguments.threads,
          [&](std::size_t index) {
            Case& one = cases[index];
            one.advice = sim::advise(one.workload, one.model->machine, one.model->parameters, {});
            if (!arguments.search) return;
            one.search = searched(one, {&policy::adaptive});
            one.search_of_both = searched(
                one, {&policy::adaptive, &policy::work_stealing, &policy::locality, &policy::home_cache});
          });
}

void simulate_all(std::vector<Case>& cases, const std::vector<Way>& ways, const Arguments& arguments) {
  for (Case& one : cases)
    one.ms = one.local = std::vector<std::vector<double>>(ways.size(), std::vector<double>(arguments.draws));
  const std::size_t per_case = ways.size() * arguments.draws;
  study::run_all("adaptive", cases.size() * per_case, arguments.threads, [&](std::size_t mine) {
    Case& one = cases[mine / per_case];
    const std::size_t index = mine % ways.size(), draw = mine % per_case / ways.size();
    const Way& way = ways[index];
    sim::RunOptions options;
    options.policy = way.policy;
    options.distribution.kind = way.distribution;
    if (way.by == Way::By::rules) options.by_region = one.advice;
    if (way.by == Way::By::search) options.by_region = one.search.by_region;
    if (way.by == Way::By::search_of_both) {
      options.policy = one.search_of_both.policy;
      options.by_region = one.search_of_both.by_region;
    }
    options.seed = draw + 1;
    const sim::Result result =
        sim::simulate(one.workload, one.model->machine, one.model->draws[draw], options);
    one.ms[index][draw] = static_cast<double>(result.makespan) / 1e9;
    one.local[index][draw] = result.local_share();
  });
}

// What makes programs differ, for who wants to know why a case comes out as it does.
Json properties_of(const sim::Workload& workload) {
  std::uint64_t bytes = 0;
  for (const sim::Region& region : workload.regions) bytes += region.bytes;
  double cycles = 0, touched = 0;
  std::uint64_t declared = 0;
  for (const sim::Work& work : workload.works) {
    cycles += static_cast<double>(work.cycles);
    bool declares = false;
    for (std::uint32_t a = 0; a < work.accesses; ++a) {
      const sim::Access& access = workload.accesses[work.first_access + a];
      declares |= access.declared;
      touched += static_cast<double>(access.length * access.rows) * std::min<double>(access.passes, 1);
    }
    declared += declares;
  }
  constexpr const char* kTouches[] = {"initial thread", "by parts", "by writer"};
  return {{"shape", workload.kinds.back()},
          {"tasks", workload.tasks.size() - 1},
          {"regions", workload.regions.size()},
          {"mib", study::rounded(static_cast<double>(bytes) / (1 << 20))},
          {"cycles_per_line", study::rounded(touched > 0 ? cycles / (touched / 64) : 0)},
          {"declared", study::rounded(static_cast<double>(declared) / static_cast<double>(workload.works.size()))},
          {"first_touch", kTouches[static_cast<std::size_t>(workload.regions.front().first_touch)]}};
}

Json json_of(const Case& one, const std::vector<Way>& ways) {
  Json runs = Json::object();
  for (std::size_t way = 0; way < ways.size(); ++way) {
    Json ms = Json::array();
    for (const double value : one.ms[way]) ms.push_back(study::rounded(value));
    runs[ways[way].name()] = {{"ms", std::move(ms)}, {"local", study::rounded(sim::band_of(one.local[way]).median)}};
  }
  return {{"set", one.set},
          {"machine", one.machine},
          {"program", one.program},
          {"properties", properties_of(one.workload)},
          {"runs", std::move(runs)}};
}

[[noreturn]] void usage(const std::string& what) {
  fmt::print(
      stderr,
      "adaptive: {}\nusage: adaptive [--models FOLDER] [--out FILE] [--only "
      "tuning|reporting|other-seeds|benchmarks|tiny] [--draws 7] [--threads N] [--apart] [--no-search]\n",
      what);
  std::exit(2);
}

std::uint32_t number(const std::string& option, const char* text) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || value < 1 || value > 1000)
    usage(fmt::format("{} wants a number from 1 to 1000", option));
  return static_cast<std::uint32_t>(value);
}

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int at = 1; at < count; ++at) {
    const std::string option = words[at];
    if (option == "--apart" || option == "--no-search") {
      (option == "--apart" ? arguments.apart : arguments.search) = option == "--apart";
      continue;
    }
    if (at + 1 == count) usage(fmt::format("\"{}\" is not understood, or wants a value", option));
    const char* value = words[++at];
    if (option == "--models")
      arguments.models = value;
    else if (option == "--out")
      arguments.out = value;
    else if (option == "--only")
      arguments.only = value;
    else if (option == "--draws")
      arguments.draws = number(option, value);
    else if (option == "--threads")
      arguments.threads = number(option, value);
    else
      usage(fmt::format("\"{}\" is not understood", option));
  }
  return arguments;
}

int run(int count, char** words) {
  const Arguments arguments = parse(count, words);
  study::Models models("adaptive", arguments.models, arguments.draws);
  std::vector<Case> cases = all_cases(arguments, models);
  if (cases.empty()) usage(fmt::format("--only {}: there is no such set", arguments.only));
  const std::vector<Way> ways = all_ways(arguments);
  advise_all(cases, arguments);
  simulate_all(cases, ways, arguments);
  Json list = Json::array();
  for (const Case& one : cases) list.push_back(json_of(one, ways));
  const Json all = {{"draws", arguments.draws}, {"cases", std::move(list)}};
  study::write("adaptive", all.dump(1) + "\n", arguments.out);
  return 0;
}

}  // namespace
}  // namespace hearth::adaptive

int main(int count, char** words) { return hearth::adaptive::run(count, words); }
