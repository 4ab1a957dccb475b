// `hearth model`. Problems go to standard error as "FILE:LINE: what; legal: ...", which editors can follow;
// what is good goes to standard output.
#include "cli/model.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "sim/cost/parameters.h"
#include "topology/current.h"
#include "topology/model.h"

namespace hearth::cli {
namespace {

using topology::LoadedMachine;
using topology::LocationKind;
using topology::Machine;

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string summary(const Machine& machine) {
  const bool homes = machine.location_kind == LocationKind::home_cache;
  return fmt::format("{}, {}, {}",
                     homes ? counted(machine.locations.size(), "home cache", "home caches")
                           : counted(machine.nodes.size(), "node", "nodes"),
                     counted(machine.cores.size(), "core", "cores"),
                     counted(machine.cpus.size(), "CPU", "CPUs"));
}

// A name of a model becomes its file; anything else is a path.
std::string file_of(const std::string& argument) {
  const std::string found = topology::model_path(argument, topology::model_folders());
  return found.empty() ? argument : found;
}

// The simulator's table is not required: without it a model serves the runtime, but not `hearth sim`.
bool has_simulator(const sim::LoadedParameters& loaded) {
  return loaded.problems.size() != 1 || loaded.error().find(": no [simulator]") == std::string::npos;
}

int check_one(const std::string& argument) {
  const std::string file = file_of(argument);
  const LoadedMachine loaded = topology::load_model(file);
  if (!loaded.ok()) {
    for (const std::string& problem : loaded.problems) put(stderr, "{}\n", problem);
    if (loaded.error.find(": cannot be read") != std::string::npos) return kExitUsage;
    put(stderr, "{}: [simulator] is looked at when the machine is right\n", file);
    return kExitDiffers;
  }
  const sim::LoadedParameters parameters = sim::load_parameters(file, loaded.machine);
  if (!has_simulator(parameters)) {
    put(stdout, "{}: good: {}; without [simulator], so `hearth sim` cannot use it\n", file,
               summary(loaded.machine));
    return 0;
  }
  if (!parameters.ok()) {
    for (const std::string& problem : parameters.problems) put(stderr, "{}\n", problem);
    return kExitDiffers;
  }
  put(stdout, "{}: good: {}; {} of the simulator's figures are known by a range\n", file,
             summary(loaded.machine), parameters.parameters.ranges().size());
  return 0;
}

int list(bool json) {
  const std::vector<std::string> folders = topology::model_folders();
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const std::vector<std::string> names = topology::models_in(folders);
  if (names.empty()) {
    std::string searched;
    for (const std::string& folder : folders) searched += (searched.empty() ? "" : ", ") + folder;
    fmt::print(stderr, "hearth: no models in this installation (looked in {})\n", searched);
    return kExitDiffers;
  }
  int status = 0;
  for (const std::string& name : names) {
    const std::string file = topology::model_path(name, folders);
    const LoadedMachine loaded = topology::load_model(file);
    if (!loaded.ok()) {
      put(stderr, "{}\n", loaded.error);
      status = kExitDiffers;
      continue;
    }
    const bool simulator = sim::load_parameters(file, loaded.machine).ok();
    if (json) {
      all.push_back({{"name", name}, {"title", loaded.title}, {"file", file}, {"simulator", simulator}});
    } else {
      put(stdout, "{:<20} {}{}\n", name, loaded.title, simulator ? "" : " (not for hearth sim)");
    }
  }
  if (json) put(stdout, "{}\n", all.dump(2));
  return status;
}

}  // namespace

void register_model(CLI::App& app) {
  CLI::App* model = app.add_subcommand("model", "Machine models: check files, list the installed ones");
  model->require_subcommand(1);

  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* check = model->add_subcommand("check", "Say all that is wrong with model files, by line");
  check->add_option("files", *files, "Model files (.toml), or names of installed models")
      ->required()
      ->type_name("FILE");
  check->callback([files] {
    int worst = 0;
    for (const std::string& file : *files) worst = std::max(worst, check_one(file));
    if (worst != 0) throw CLI::RuntimeError(worst);
  });

  auto json = std::make_shared<bool>(false);
  CLI::App* names = model->add_subcommand("list", "List the models that go by name");
  names->add_flag("--json", *json, "Print JSON");
  names->callback([json] {
    if (const int status = list(*json); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace hearth::cli
