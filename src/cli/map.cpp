// See map.h. The mapping is mappers/, the time sim/; here both are put into a table.
#include "cli/map.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/map_input.h"
#include "cli/map_simulated.h"
#include "cli/output.h"
#include "cli/sim_advice.h"
#include "cli/spelling.h"
#include "mappers/mapper.h"

namespace hearth::cli {
namespace {

using mappers::Graph;
using mappers::LeafIndex;
using mappers::Mapper;
using mappers::Target;

struct Mapped {
  const Mapper* mapper = nullptr;
  mappers::Mapping mapping;
  std::vector<LeafIndex> leaf_of;
  mappers::Measures measures;
  double ms = -1;  // below 0: not simulated
};

/// Null, and said, for a name that no mapper has.
const Mapper* mapper_of(const std::string& name, const char* command) {
  const Mapper* mapper = mappers::find_mapper(name);
  if (mapper != nullptr) return mapper;
  std::vector<std::string> names;
  for (const Mapper& one : mappers::all_mappers()) names.emplace_back(one.name);
  say("{}: --mapper=\"{}\": no such mapper{}; legal: {}", command, name, did_you_mean(name, names),
      mappers::mapper_names());
  return nullptr;
}

Mapped map_by(const Mapper& mapper, const Graph& graph, const Target& target) {
  Mapped result;
  result.mapper = &mapper;
  result.mapping = mapper.map(graph, target);
  if (!result.mapping.ok()) return result;
  result.leaf_of = settle(graph, target, result.mapping);
  result.measures = measure(graph, target, result.leaf_of);
  return result;
}

/// "{0,12},{1,13}", by thread.
std::string places_text(const Target& target, const std::vector<std::vector<LeafIndex>>& leaves) {
  std::string text;
  for (const std::vector<LeafIndex>& choice : leaves) {
    topology::CpuMask cpus;
    for (const LeafIndex leaf : choice) cpus |= target.leaves()[leaf].cpus;
    std::string place;
    cpus.for_each([&](unsigned cpu) { place += (place.empty() ? "" : ",") + std::to_string(cpu); });
    text += (text.empty() ? "{" : ",{") + place + "}";
  }
  return text;
}

std::string amount(double value) { return value < 1e6 ? fmt::format("{:.6g}", value) : fmt::format("{:.3g}", value); }

std::string time_of(double ms) {
  if (ms < 0) return "-";
  return ms < 1      ? fmt::format("{:.3g} us", ms * 1000)
         : ms < 1000 ? fmt::format("{:.4g} ms", ms)
                     : fmt::format("{:.4g} s", ms / 1000);
}

std::string table(const MapRequest& request, const Graph& graph, const MapMachine& machine, const Target& target,
                  const std::vector<Mapped>& results) {
  std::vector<std::vector<std::string>> rows = {
      {"mapper", "hop-bytes", "cut", "cut of nodes", "largest load", "/ ideal", "simulated"}};
  std::string remarks, without;
  for (const Mapped& one : results) {
    const std::string name(one.mapper->name);
    if (!one.mapping.ok()) {
      without += fmt::format("{}: {}\n", name, one.mapping.problem);
      continue;
    }
    const mappers::Measures& m = one.measures;
    rows.push_back({name, amount(m.hop_bytes), amount(m.cut), amount(m.node_cut), amount(m.largest_load),
                    m.ideal_load > 0 ? fmt::format("{:.2f}", m.largest_load / m.ideal_load) : "-", time_of(one.ms)});
    if (!one.mapping.remark.empty()) remarks += fmt::format("{}: {}\n", name, one.mapping.remark);
  }
  std::string text = fmt::format(
      "{} on {}: {}, {}, {}\n\n", request.graph, machine.name, counted(graph.size(), "thread"),
      counted(graph.edges.size(), "edge"),
      counted(target.size(), same_word(request.places, "threads") ? "hardware thread" : "core"));
  text += aligned(rows);
  text +=
      "\nhop-bytes: sum of weight x levels of the machine between both threads\n"
      "cut: weight between cores; cut of nodes: between NUMA nodes\n"
      "largest load: of a core; ideal: all load / all cores; simulated: the simulator's time\n";
  if (!machine.no_simulation.empty()) text += fmt::format("simulated: {}\n", machine.no_simulation);
  if (!graph.has_loads) text += "The graph has no loads: each thread's is 1.\n";
  text += remarks.empty() ? "" : "\n" + remarks;
  text += without.empty() ? "" : "\n" + without;
  if (results.size() != 1 || !results[0].mapping.ok()) return text;
  text += '\n';
  for (mappers::Thread t = 0; t < graph.size(); ++t)
    text += fmt::format("{}: {}\n", graph.name[t], places_text(target, {results[0].mapping.leaves[t]}));
  return text + fmt::format("\nOMP_PLACES=\"{}\"\n", places_text(target, results[0].mapping.leaves));
}

Json results_json(const Graph& graph, const MapMachine& machine, const Target& target,
                  const std::vector<Mapped>& results) {
  Json json = {
      {"machine", machine.name}, {"threads", graph.size()}, {"cores", target.size()}, {"mappers", Json::array()}};
  for (const Mapped& one : results) {
    Json row = {{"mapper", one.mapper->name}};
    if (!one.mapping.ok()) {
      row["problem"] = one.mapping.problem;
      json["mappers"].push_back(std::move(row));
      continue;
    }
    row["hop_bytes"] = one.measures.hop_bytes;
    row["cut"] = one.measures.cut;
    row["node_cut"] = one.measures.node_cut;
    row["largest_load"] = one.measures.largest_load;
    row["ideal_load"] = one.measures.ideal_load;
    if (one.ms >= 0) row["simulated_ms"] = one.ms;
    if (!one.mapping.remark.empty()) row["remark"] = one.mapping.remark;
    Json places = Json::array();
    for (const std::vector<LeafIndex>& leaves : one.mapping.leaves) {
      Json cpus = Json::array();
      for (const LeafIndex leaf : leaves)
        target.leaves()[leaf].cpus.for_each([&](unsigned cpu) { cpus.push_back(cpu); });
      places.push_back(std::move(cpus));
    }
    row["cpus"] = std::move(places);
    json["mappers"].push_back(std::move(row));
  }
  return json;
}

std::string list_text() {
  std::string text;
  for (const Mapper& mapper : mappers::all_mappers()) {
    const std::string name = std::string(mapper.name) +
                             (mapper.alias.empty() ? "" : " (" + std::string(mapper.alias) + ")");
    text += fmt::format("{:<16} {}\n", name, mapper.meaning);
  }
  return text;
}

}  // namespace

int map_main(const MapRequest& request) {
  if (request.list) return put_text(stdout, list_text()), 0;
  std::vector<const Mapper*> wanted;
  for (const std::string& name : request.mappers) {
    wanted.push_back(mapper_of(name, "map"));
    if (wanted.back() == nullptr) return kExitUsage;
  }
  if (wanted.empty())
    for (const Mapper& mapper : mappers::all_mappers()) wanted.push_back(&mapper);
  const bool hardware_threads = same_word(request.places, "threads");
  if (!hardware_threads && !same_word(request.places, "cores")) {
    say("map: --places=\"{}\": unknown; legal: cores, threads", request.places);
    return kExitUsage;
  }
  const mappers::LoadedGraph loaded = load_graph(request.graph);
  if (!loaded.ok()) {
    say("map: {}", loaded.error);
    return kExitUsage;
  }
  const MapMachine machine = load_map_machine(request.machine);
  if (!machine.error.empty()) {
    say("map: {}", machine.error);
    return kExitUsage;
  }
  if (would_destroy(request.json, request.graph)) return kExitUsage;
  if (!loaded.remark.empty()) say("map: {}", loaded.remark);
  const Target target(machine.machine, hardware_threads ? mappers::LeafUnit::hardware_thread : mappers::LeafUnit::core);
  std::vector<Mapped> results;
  for (const Mapper* mapper : wanted) {
    results.push_back(map_by(*mapper, loaded.graph, target));
    Mapped& one = results.back();
    if (one.mapping.ok() && machine.no_simulation.empty())
      one.ms = simulated_ms(loaded.graph, target, one.leaf_of, machine.machine, machine.parameters);
  }
  if (request.json != "-") put_text(stdout, table(request, loaded.graph, machine, target, results));
  if (!request.json.empty() &&
      !write_file(request.json, results_json(loaded.graph, machine, target, results).dump(2) + "\n"))
    return kExitFailed;
  // A mapper that was asked for by name and is not there is a failure.
  const bool missing = std::any_of(results.begin(), results.end(), [](const Mapped& one) { return !one.mapping.ok(); });
  return missing && !request.mappers.empty() ? kExitFailed : 0;
}

bool places_from(const std::string& recording, const std::string& mapper_name, std::string& places) {
  places.clear();
  const Mapper* mapper = mapper_of(mapper_name, "run");
  if (mapper == nullptr) return false;
  const replay::Communication communication = replay::load_communication(recording);
  if (!communication.ok()) {
    say("--places-from: {}", communication.error);
    return false;
  }
  const MapMachine machine = load_map_machine("");
  if (!machine.error.empty()) {
    say("--places-from: {}", machine.error);
    return false;
  }
  const Graph graph = graph_of(communication);
  if (graph.edges.empty() || graph.size() > mappers::kMostThreads) {
    say("--places-from: {}: {} No places are set.", recording,
        communication.remarks.empty() ? "it has too many threads." : communication.remarks);
    return true;
  }
  const Target cores(machine.machine, mappers::LeafUnit::core);
  const Target target = graph.size() <= cores.size() ? cores
                                                     : Target(machine.machine, mappers::LeafUnit::hardware_thread);
  const mappers::Mapping mapping = mapper->map(graph, target);
  if (!mapping.ok()) {
    say("--places-from: {}", mapping.problem);
    return false;
  }
  places = places_text(target, mapping.leaves);
  return true;
}

}  // namespace hearth::cli
