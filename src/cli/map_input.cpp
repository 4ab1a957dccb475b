// See map_input.h.
#include "cli/map_input.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "replay/recording_file.h"
#include "topology/current.h"
#include "topology/sysfs.h"
#include "topology/system_root.h"

namespace hearth::cli {
namespace {

/// A graph of kMostThreads threads that all exchange data is no larger.
constexpr std::streamoff kLargestFile = std::streamoff{1} << 31;

bool read_file(const std::string& path, std::string& text, std::string& why) {
  if (std::error_code none; std::filesystem::is_directory(path, none)) {
    why = fmt::format("{}: cannot be read: it is a folder", path);
    return false;
  }
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0 || size > kLargestFile) {
    why = fmt::format("{}: {}", path, size < 0 ? "cannot be read" : "is larger than 2 GiB; legal: a graph of threads");
    return false;
  }
  text.resize(static_cast<std::size_t>(size));
  in.seekg(0);
  if (in.read(text.data(), size)) return true;
  why = fmt::format("{}: cannot be read", path);
  return false;
}

}  // namespace

mappers::Graph graph_of(const replay::Communication& communication) {
  mappers::GraphBuilder builder;
  for (std::size_t t = 0; t < communication.busy_us.size(); ++t)
    builder.add_thread(fmt::format("thread {}", t), communication.busy_us[t]);
  for (const auto& [a, b, bytes] : communication.pairs) builder.add_edge(a, b, bytes);
  mappers::Graph graph = builder.take();
  graph.has_loads = graph.measured = true;
  return graph;
}

mappers::LoadedGraph load_graph(const std::string& path) {
  if (path.ends_with(".db") || replay::is_recording(path)) {
    const replay::Communication communication = replay::load_communication(path);
    if (!communication.ok()) return mappers::LoadedGraph::failure(communication.error);
    if (communication.busy_us.size() > mappers::kMostThreads)
      return mappers::LoadedGraph::failure(fmt::format("{}: more than {} threads", path, mappers::kMostThreads));
    return {graph_of(communication), {}, communication.remarks};
  }
  std::string text, why;
  if (!read_file(path, text, why)) return mappers::LoadedGraph::failure(why);
  return mappers::parse_graph(text, path);
}

MapMachine load_map_machine(const std::string& description) {
  MapMachine made;
  const char* variable = std::getenv("HEARTH_MACHINE");
  const bool by_option = !description.empty();
  const std::string wanted = by_option ? description : variable == nullptr ? "" : variable;
  if (wanted.empty()) {
    made.machine = topology::read_sysfs(topology::SystemRoot(), topology::allowance());
    made.name = "this machine";
    made.no_simulation = "no model says how fast this machine is; --machine names one";
    return made;
  }
  topology::LoadedMachine loaded = topology::load_machine(wanted, topology::model_folders());
  if (!loaded.ok()) {
    made.error = fmt::format("{}=\"{}\": {}", by_option ? "--machine" : "HEARTH_MACHINE", wanted, loaded.error);
    return made;
  }
  made.machine = std::move(loaded.machine);
  made.name = made.machine.name.empty() ? wanted : made.machine.name;
  if (made.machine.source != topology::Source::model) {
    made.no_simulation = "the description says how the machine is made and not how fast it is";
    return made;
  }
  sim::LoadedParameters parameters = sim::load_parameters(made.machine.origin, made.machine);
  if (parameters.ok())
    made.parameters = std::move(parameters.parameters);
  else
    made.no_simulation = parameters.error();
  return made;
}

}  // namespace hearth::cli
