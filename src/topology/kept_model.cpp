// See kept_model.h. No state.
#include "topology/kept_model.h"

#include <cstdlib>

#include "base/cache_file.h"
#include "base/log.h"
#include "topology/model.h"
#include "topology/system_root.h"

namespace hearth::topology {
namespace {

// "name = { value = 12.3, mark = "H" }"; what is assumed begins with "low" and does not count.
double measured(const std::string& text, const char* name) {
  const std::string begin = std::string("\n") + name + " = { value = ";
  const std::size_t at = text.find(begin);
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + begin.size(), nullptr);
}

// Another machine had the host's name, or this process may use less of it.
bool has_locations_of(const Machine& measured, const Machine& machine) {
  if (measured.locations.size() != machine.locations.size()) return false;
  for (std::size_t i = 0; i < machine.locations.size(); ++i) {
    const int here = machine.locations[i].node, there = measured.locations[i].node;
    if (here < 0 || there < 0 || machine.nodes[static_cast<std::size_t>(here)].os != measured.nodes[static_cast<std::size_t>(there)].os)
      return false;
  }
  return true;
}

}  // namespace

std::string kept_model_path() { return cache_file(".toml"); }

bool read_kept_model(const Machine& machine, KeptFigures& figures) {
  const std::string path = kept_model_path();
  std::string text;
  if (machine.pretended || machine.location_kind != LocationKind::node || path.empty() || !SystemRoot().read(path.c_str(), text))
    return false;
  LoadedMachine loaded = parse_model(text, path);
  if (!loaded.ok()) {
    HEARTH_WARN_ONCE("%s. What memory costs is taken from the firmware's distances.", loaded.error.c_str());
    return false;
  }
  if (!has_locations_of(loaded.machine, machine)) {
    HEARTH_WARN_ONCE("%s was measured with other memory nodes. What memory costs is taken from the firmware's distances.",
                     path.c_str());
    return false;
  }
  figures.machine = std::move(loaded.machine);
  figures.move_pages_base_us = measured(text, "move_pages_base_us");
  figures.move_pages_us = measured(text, "move_pages_us");
  figures.move_thread_us = measured(text, "move_thread_us");
  return true;
}

}  // namespace hearth::topology
