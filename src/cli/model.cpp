// `hearth model`. Problems go to standard error as "FILE:LINE: what; legal: ...", which editors can follow;
// what is good goes to standard output.
#include "cli/model.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/output.h"
#include "sim/cost/parameters.h"
#include "topology/current.h"
#include "topology/model.h"

namespace hearth::cli {
namespace {

using topology::LoadedMachine;
using topology::LocationKind;
using topology::Machine;

std::string summary(const Machine& machine) {
  const bool homes = machine.location_kind == LocationKind::home_cache;
  return fmt::format("{}, {}, {}",
                     homes ? counted(machine.locations.size(), "home cache")
                           : counted(machine.nodes.size(), "node"),
                     counted(machine.cores.size(), "core"),
                     counted(machine.cpus.size(), "CPU"));
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

}  // namespace

int check_models(const std::vector<std::string>& files) {
  int worst = 0;
  for (const std::string& file : files) worst = std::max(worst, check_one(file));
  return worst;
}

int list_models(bool json) {
  const std::vector<std::string> folders = topology::model_folders();
  Json all = Json::array();
  const std::vector<std::string> names = topology::models_in(folders);
  if (names.empty()) {
    std::string searched;
    for (const std::string& folder : folders) searched += (searched.empty() ? "" : ", ") + folder;
    say("no models in this installation (looked in {})", searched);
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

}  // namespace hearth::cli
