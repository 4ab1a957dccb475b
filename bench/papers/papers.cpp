// papers: the results of Muddukrishna et al. 2015 and of Broquedis et al. 2009, simulated, as JSON.
//
// Every machine is visited twice over: with its model's values and kSeeds seeds, whose middle is what tables
// show; and in draws over all ranges of the model, which give bands and say how often a claim comes out. The
// output depends on nothing but the model files and the arguments: threads take visits as they come, and each
// writes its own slot. bench/papers/run makes pages and pictures of it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "papers/claims.h"
#include "papers/draws.h"
#include "papers/forestgomp.h"
#include "papers/las.h"
#include "papers/progress.h"
#include "topology/model.h"

namespace hearth::papers {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kSeeds = 20;

struct Arguments {
  std::string models = "models";
  std::string out;
  std::string only;  // a machine; empty: all of them
  std::uint32_t draws = 200;
  std::uint32_t seeds = kSeeds;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  bool quick = false;
};

struct Model {
  const char* name;
  Cells (*visit)(const Visit&);
  topology::Machine machine;
  sim::Parameters parameters;
  std::vector<std::string> ranges;
  std::vector<Cells> seeds;
  std::vector<Cells> draws;
};

bool load(Model& model, const std::string& folder) {
  const std::string path = folder + "/" + model.name + ".toml";
  topology::LoadedMachine machine = topology::load_model(path);
  if (!machine.ok()) {
    fmt::print(stderr, "papers: {}\n", machine.error);
    return false;
  }
  model.machine = std::move(machine.machine);
  sim::LoadedParameters parameters = sim::load_parameters(path, model.machine);
  if (!parameters.ok()) {
    fmt::print(stderr, "papers: {}\n", parameters.error());
    return false;
  }
  model.parameters = std::move(parameters.parameters);
  model.ranges = model.parameters.ranges();
  return true;
}

void visit_all(std::vector<Model>& models, const Arguments& arguments) {
  struct Job {
    Model* model;
    std::uint32_t index;
    bool drawn;
  };
  std::vector<Job> jobs;
  for (Model& model : models) {
    model.seeds.resize(arguments.seeds);
    model.draws.resize(arguments.draws);
    for (std::uint32_t index = 0; index < arguments.seeds; ++index) jobs.push_back({&model, index, false});
    for (std::uint32_t index = 0; index < arguments.draws; ++index) jobs.push_back({&model, index, true});
  }
  Progress progress("papers", jobs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (;;) {
      const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
      if (mine >= jobs.size()) return;
      const Job& job = jobs[mine];
      Model& model = *job.model;
      if (job.drawn) {
        const sim::Parameters drawn = model.parameters.drawn(draw(model.ranges.size(), job.index));
        model.draws[job.index] = model.visit({model.machine, drawn, job.index + 1, true, arguments.quick});
      } else {
        model.seeds[job.index] =
            model.visit({model.machine, model.parameters, job.index + 1, false, arguments.quick});
      }
      progress.one_more();
    }
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < arguments.threads; ++thread) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

// The middle over the seeds, and what 90 % of the draws lie within. Five digits: no more mean anything, and
// the file stays readable.
template <class Value>
Json band(const std::vector<Cells>& seeds, const std::vector<Cells>& draws, const Value& value) {
  const auto rounded = [](double number) { return std::stod(fmt::format("{:.5g}", number)); };
  std::vector<double> middle, wide;
  for (const Cells& cells : seeds) middle.push_back(value(cells));
  for (const Cells& cells : draws) wide.push_back(value(cells));
  Json all = {{"value", rounded(quantile(middle, 0.5))}};
  if (wide.empty()) return all;
  all["low"] = rounded(quantile(wide, 0.05));
  all["high"] = rounded(quantile(wide, 0.95));
  return all;
}

// What a cell is shown relative to, within the same visit: so a band says how much the comparison varies, and
// not how fast the machine is.
std::string base_of(const std::string& cell) {
  const auto group = cell.rfind('/');
  for (const auto& [figure, base] :
       {std::pair{"figure 7/", "/stealing + numactl"}, {"figure 9/", "/stealing + fine"}}) {
    if (!cell.starts_with(figure)) continue;
    const auto benchmark = cell.find('/', std::strlen(figure));
    return cell.substr(0, std::min(benchmark, group)) + base;
  }
  return {};
}

Json machine_of(const Model& model) {
  Json cells = Json::object();
  const std::vector<Cells> none;
  for (const auto& [name, unused] : model.seeds.front()) {
    const std::vector<Cells>& draws = model.draws.front().contains(name) ? model.draws : none;
    Json cell = band(model.seeds, draws, [&](const Cells& all) { return all.at(name); });
    const std::string base = base_of(name);
    if (!base.empty() && model.seeds.front().contains(base))
      cell["relative"] =
          band(model.seeds, draws, [&](const Cells& all) { return all.at(name) / all.at(base); });
    cells[name] = std::move(cell);
  }
  return {{"model", std::string("models/") + model.name + ".toml"},
          {"ranges", model.ranges},
          {"cells", std::move(cells)}};
}

Json claim_of(const Claim& claim, const Model& model) {
  const auto count = [&](const std::vector<Cells>& visits) {
    return std::count_if(visits.begin(), visits.end(),
                         [&](const Cells& cells) { return comes_out(claim, cells); });
  };
  Json ours = band(model.seeds, model.draws, [&](const Cells& cells) { return ratio(claim, cells); });
  Json of = Json::array();
  for (const Comparison& one : claim.all) of.push_back({one.left, one.right});
  return {{"id", claim.id},
          {"machine", claim.machine},
          {"where", claim.where},
          {"text", claim.text},
          {"kind", name_of(claim.kind)},
          {"expected", claim.expected},
          {"theirs", claim.theirs},
          {"ours", std::move(ours)},
          {"holds", count(model.draws)},
          {"draws", model.draws.size()},
          {"holds_with_values", count(model.seeds)},
          {"seeds", model.seeds.size()},
          {"decides", claim.decides},
          {"fitted", claim.fitted},
          {"compares", std::move(of)}};
}

[[noreturn]] void usage(const char* what) {
  fmt::print(stderr,
             "papers: {}\nusage: papers [--models FOLDER] [--out FILE] [--only MACHINE] [--draws 200] "
             "[--seeds {}] [--threads "
             "N] [--quick]\n",
             what, kSeeds);
  std::exit(2);
}

std::uint32_t number(const char* option, const char* text) {
  char* end = nullptr;
  const unsigned long value = text ? std::strtoul(text, &end, 10) : 0;
  if (!text || *text < '0' || *text > '9' || *end || value < 1 || value > 100000)
    usage(fmt::format("{} wants a number from 1 to 100000", option).c_str());
  return static_cast<std::uint32_t>(value);
}

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int at = 1; at < count; ++at) {
    const std::string option = words[at];
    if (option == "--quick") {
      arguments.quick = true;
      arguments.draws = 2;
      arguments.seeds = 1;
      continue;
    }
    const char* value = at + 1 < count ? words[++at] : nullptr;
    if (option == "--models" && value)
      arguments.models = value;
    else if (option == "--out" && value)
      arguments.out = value;
    else if (option == "--only" && value)
      arguments.only = value;
    else if (option == "--draws")
      arguments.draws = number("--draws", value);
    else if (option == "--seeds")
      arguments.seeds = number("--seeds", value);
    else if (option == "--threads")
      arguments.threads = number("--threads", value);
    else
      usage(fmt::format("\"{}\" is not understood", option).c_str());
  }
  return arguments;
}

int run(int count, char** words) {
  const Arguments arguments = parse(count, words);
  std::vector<Model> models;
  models.push_back({"opteron-8347hex4", forestgomp, {}, {}, {}, {}, {}});
  models.push_back({"opteron-6172x4", figure_7, {}, {}, {}, {}, {}});
  models.push_back({"tilepro64", figure_9, {}, {}, {}, {}, {}});
  if (!arguments.only.empty()) {
    std::erase_if(models, [&](const Model& model) { return model.name != arguments.only; });
    if (models.empty()) usage(fmt::format("--only {}: no paper has that machine", arguments.only).c_str());
  }
  for (Model& model : models) {
    if (!load(model, arguments.models)) return 1;
  }
  visit_all(models, arguments);

  Json machines = Json::object();
  for (const Model& model : models) machines[model.name] = machine_of(model);
  Json rows = Json::array();
  for (auto& claims : {muddukrishna(), broquedis()}) {
    for (const Claim& claim : claims) {
      const auto model = std::find_if(models.begin(), models.end(), [&](const Model& one) {
        return std::string_view(one.name) == claim.machine;
      });
      if (model == models.end()) continue;  // not visited this time
      std::vector<std::string> names = missing(claim, model->seeds.front());
      for (std::string& name : missing(claim, model->draws.front())) names.push_back(std::move(name));
      for (const std::string& name : names) {
        fmt::print(stderr, "papers: claim {}: nobody computes \"{}\"\n", claim.id, name);
        return 1;
      }
      rows.push_back(claim_of(claim, *model));
    }
  }
  const Json all = {{"quick", arguments.quick},
                    {"draws", arguments.draws},
                    {"seeds", arguments.seeds},
                    {"machines", std::move(machines)},
                    {"claims", std::move(rows)}};
  const std::string text = all.dump(1) + "\n";
  std::FILE* file = arguments.out.empty() ? stdout : std::fopen(arguments.out.c_str(), "w");
  if (!file || std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0) {
    fmt::print(stderr, "papers: {}: {}\n", arguments.out.empty() ? "standard output" : arguments.out,
               std::strerror(errno));
    return 1;
  }
  if (!arguments.out.empty()) std::fclose(file);
  return 0;
}

}  // namespace
}  // namespace hearth::papers

int main(int count, char** words) { return hearth::papers::run(count, words); }
