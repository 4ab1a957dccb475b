// See topo.h. Which machine is shown, gathered or replayed; its text is in topo_text.cpp, its JSON in topo_json.cpp.
#include "cli/topo.h"

#include <cstdlib>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/recorded_machine.h"
#include "cli/topo_words.h"
#include "survey/gather.h"
#include "topology/current.h"
#include "topology/kept_model.h"
#include "topology/sysfs.h"

namespace hearth::cli {
namespace {

using topology::LoadedMachine;
using topology::LocationKind;
using topology::Machine;
using topology::SystemRoot;

bool terminal_speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view text = value;
    return text.find("UTF-8") != std::string_view::npos || text.find("utf8") != std::string_view::npos ||
           text.find("UTF8") != std::string_view::npos || text.find("utf-8") != std::string_view::npos;
  }
  return false;
}

void write_recording(const std::string& file) {
  const survey::Gathered gathered = survey::gather(SystemRoot(), topology::current_affinity(), file);
  put(stdout,
      "Wrote {}: {} files, {}. It describes processors, caches, memory nodes and this process's cgroups (their names "
      "included), nothing else; `hearth topo --replay {}` shows it.\n",
      file, gathered.files, bytes_text(gathered.bytes), file);
}

/// The value of an option, or of its variable, and which of the two it was.
struct Given {
  std::string value;
  const char* name;
};

Given given(const std::string& option_value, const char* option, const char* variable) {
  const char* value = option_value.empty() ? std::getenv(variable) : nullptr;
  return value != nullptr ? Given{value, variable} : Given{option_value, option};
}

Machine wanted_machine(const TopoRequest& request) {
  if (!request.replay.empty()) return RecordedMachine(request.replay).machine();
  const Given description = given(request.machine, "--machine", "HEARTH_MACHINE");
  if (description.value.empty()) return topology::read_sysfs(SystemRoot(), topology::allowance());
  LoadedMachine loaded = topology::load_machine(description.value, topology::model_folders());
  if (!loaded.ok())
    throw std::runtime_error(fmt::format("{}=\"{}\": {}", description.name, description.value, loaded.error));
  return std::move(loaded.machine);
}

void choose_locations(Machine& machine, const std::string& option_value) {
  const Given location = given(option_value, "--location", "HEARTH_LOCATION");
  if (same_word(location.value, "llc"))
    machine.use_locations(LocationKind::llc);
  else if (!location.value.empty() && !same_word(location.value, "node"))
    throw std::runtime_error(
        fmt::format("{}=\"{}\": not a word that is known; legal: node or llc", location.name, location.value));
}

void show(const TopoRequest& request) {
  Machine machine = wanted_machine(request);
  choose_locations(machine, request.location);
  put_text(stdout, request.json ? machine_json(machine) : describe_machine(machine, terminal_speaks_utf8()));
}

/// Where programs look for the model of this machine; the folder is made.
std::string file_to_keep() {
  const std::string file = topology::kept_model_path();
  if (file.empty()) throw std::runtime_error("--keep: neither XDG_CACHE_HOME nor HOME names a folder");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  return file;  // whoever writes it says what is wrong
}

}  // namespace

int topo_main(const TopoRequest& request) {
  try {
    if (request.measure) return measure_machine(request.keep ? file_to_keep() : request.write, request.quick);
    if (!request.gather.empty())
      write_recording(request.gather);
    else
      show(request);
    return 0;
  } catch (const std::exception& error) {
    say("topo: {}", error.what());
    return kExitFailed;
  }
}

}  // namespace hearth::cli
