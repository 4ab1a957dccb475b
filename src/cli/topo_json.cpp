// The JSON of `hearth topo --json`.
#include <string>
#include <utility>

#include "cli/json.h"
#include "cli/topo.h"
#include "cli/topo_words.h"

namespace hearth::cli {
namespace {

using topology::CacheDomain;
using topology::Core;
using topology::Location;
using topology::LocationKind;
using topology::Machine;
using topology::Node;

template <class Matrix>
Json matrix(const Matrix& values) {
  Json rows = Json::array();
  for (std::size_t row = 0; row < values.size(); ++row) {
    Json line = Json::array();
    for (std::size_t column = 0; column < values.size(); ++column) line.push_back(values.at(row, column));
    rows.push_back(std::move(line));
  }
  return rows;
}

void add_allowed(const Machine& machine, Json& json) {
  json["source"] = topology::source_name(machine.source);
  json["origin"] = machine.origin;
  json["name"] = machine.name;
  json["pretended"] = machine.pretended;
  json["detected"] = {{"cpus", machine.online.list()}, {"offline", machine.offline.list()}};
  Json& allowed = json["allowed"];
  allowed["cpus"] = machine.usable.list();
  allowed["cpus_from"] = affinity_source(machine);
  allowed["memory_nodes"] = machine.memory_nodes.list();
  allowed["memory_nodes_from"] = memory_source(machine);
  allowed["quota"] = Json();
  if (machine.quota.limited()) {
    allowed["quota"] = {{"cpus", machine.quota.cpus()},
                        {"quota_us", machine.quota.quota_us},
                        {"period_us", machine.quota.period_us},
                        {"from", machine.quota.file}};
  }
  json["default_team_size"] = machine.default_team_size();
  json["default_team_size_because"] = team_reason(machine);
}

void add_nodes(const Machine& machine, Json& json) {
  json["packages"] = Json::array();
  for (const topology::Package& package : machine.packages) {
    json["packages"].push_back(
        {{"number", package.os}, {"cpus", package.cpus.list()}, {"allowed", package.usable.list()}});
  }
  json["nodes"] = Json::array();
  for (const Node& node : machine.nodes) {
    Json one = {{"number", node.os},
                {"cpus", node.cpus.list()},
                {"allowed", node.usable.list()},
                {"has_memory", node.has_memory},
                {"memory_bytes", node.memory_bytes},
                {"memory_allowed", node.memory_allowed},
                {"package", node.package}};
    const topology::NodeAccess& access = node.access;
    if (access.read_latency_ns != 0 || access.read_bandwidth_mbs != 0) {
      one["access"] = {{"from_nodes", access.initiators.list()},
                       {"read_latency_ns", access.read_latency_ns},
                       {"write_latency_ns", access.write_latency_ns},
                       {"read_bandwidth_mbs", access.read_bandwidth_mbs},
                       {"write_bandwidth_mbs", access.write_bandwidth_mbs}};
    }
    json["nodes"].push_back(std::move(one));
  }
}

void add_caches_and_cores(const Machine& machine, Json& json) {
  json["last_level_caches"] = Json::array();
  for (const CacheDomain& llc : machine.llcs) {
    json["last_level_caches"].push_back({{"level", llc.level},
                                         {"bytes", llc.bytes},
                                         {"line_bytes", llc.line_bytes},
                                         {"cpus", llc.cpus.list()},
                                         {"allowed", llc.usable.list()},
                                         {"package", llc.package},
                                         {"nodes", Json::array(llc.nodes)}});
  }
  json["core_kinds"] = Json::array();
  for (const topology::CoreKind& kind : machine.kinds) {
    json["core_kinds"].push_back(
        {{"name", kind.name}, {"capacity", kind.capacity}, {"cpus", kind.cpus.list()}});
  }
  json["cores"] = Json::array();
  for (const Core& core : machine.cores) {
    json["cores"].push_back({{"number", core.os},
                             {"cpus", core.cpus.list()},
                             {"allowed", core.usable.list()},
                             {"package", core.package},
                             {"node", core.node},
                             {"last_level_cache", core.llc},
                             {"kind", core.kind}});
  }
}

void add_locations(const Machine& machine, Json& json) {
  json["locations"] = Json::array();
  for (const Location& location : machine.locations) {
    Json one = {{"kind", location.kind == LocationKind::node  ? "node"
                         : location.kind == LocationKind::llc ? "last-level cache"
                                                              : "home cache"},
                {"node", location.node},
                {"cpus", location.cpus.list()},
                {"holds_memory", location.holds_memory}};
    if (location.llc >= 0) one["last_level_cache"] = location.llc;
    json["locations"].push_back(std::move(one));
  }
  json["distances"] = {{"from", topology::distance_source_name(machine.distance_source)},
                       {"nodes", matrix(machine.node_distance)},
                       {"locations", matrix(machine.location_distance)}};
  if (!machine.read_latency_ns.empty()) json["read_latency_ns"] = matrix(machine.read_latency_ns);
  if (!machine.write_latency_ns.empty()) json["write_latency_ns"] = matrix(machine.write_latency_ns);
  if (!machine.bandwidth_mbs.empty()) json["bandwidth_mbs"] = matrix(machine.bandwidth_mbs);
}

}  // namespace

std::string machine_json(const Machine& machine) {
  Json json;
  add_allowed(machine, json);
  add_nodes(machine, json);
  add_caches_and_cores(machine, json);
  add_locations(machine, json);
  return json.dump(2) + '\n';
}

}  // namespace hearth::cli
