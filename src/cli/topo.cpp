// `hearth topo`. The facts come from topology/; here they are drawn, written as JSON, gathered and replayed.
#include "cli/topo.h"

#include <cstdio>
#include <cstdlib>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/parse.h"
#include "cli/output.h"
#include "survey/archive.h"
#include "survey/measure.h"
#include "topology/current.h"
#include "topology/quota.h"
#include "topology/sysfs.h"

namespace hearth::cli {
namespace {

using topology::CacheDomain;
using topology::Core;
using topology::CpuMask;
using topology::LoadedMachine;
using topology::Location;
using topology::LocationKind;
using topology::Machine;
using topology::Node;
using topology::Source;
using topology::SystemRoot;

struct TopoOptions {
  bool json = false;
  std::string machine;
  std::string location;
  std::string replay;
  std::string gather;
  bool measure = false;
  measure::Options measuring;
};

// ---- words

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return value == static_cast<double>(static_cast<std::uint64_t>(value))
             ? fmt::format("{:.0f} {}", value, kUnits[unit])
             : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string list_or(const CpuMask& mask, const char* otherwise) {
  return mask.empty() ? otherwise : mask.list();
}

std::string affinity_source(const Machine& machine) {
  switch (machine.source) {
    case Source::sysfs:
      return machine.origin == "/sys" ? "the affinity mask that the kernel gave this process"
                                      : "the affinity mask in the recording";
    case Source::hwloc_xml: return "the XML file's allowed set";
    default: return "the model: everything";
  }
}

std::string memory_source(const Machine& machine) {
  if (machine.source != Source::sysfs) return "the model";
  return machine.origin == "/sys" ? "Mems_allowed of /proc/self/status, and numactl --membind"
                                  : "Mems_allowed of /proc/self/status";
}

std::string team_reason(const Machine& machine) {
  const auto cpus = static_cast<unsigned>(machine.usable.count());
  if (machine.quota.limited() && machine.quota.whole_cpus() < cpus) {
    return fmt::format("the CPU quota of {:g}, rounded up, is less than {}", machine.quota.cpus(),
                       counted(cpus, "CPU", "CPUs"));
  }
  return "one per CPU that may be used";
}

// ---- text

class Drawing {
 public:
  explicit Drawing(bool utf8) : utf8_(utf8) {}

  struct Item {
    std::string text;
    std::vector<Item> below;
  };

  void draw(const std::vector<Item>& items, const std::string& indent = {}) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool last = i + 1 == items.size();
      out_ += indent;
      out_ += utf8_ ? (last ? "└─ " : "├─ ") : (last ? "`- " : "|- ");
      out_ += items[i].text + '\n';
      draw(items[i].below, indent + (last ? "   " : utf8_ ? "│  " : "|  "));
    }
  }
  std::string take() { return std::move(out_); }

 private:
  bool utf8_;
  std::string out_;
};

// " (allowed: 0-3)", " (not allowed)", or nothing when all may be used.
std::string allowed_note(const CpuMask& cpus, const CpuMask& usable) {
  if (cpus == usable) return {};
  return usable.empty() ? "  (not allowed)" : fmt::format("  (allowed: {})", usable.list());
}

std::string cores_text(const Machine& machine, const CpuMask& cpus) {
  // "8 cores x 2 threads", or by kind where kinds differ.
  struct Group {
    int kind;
    std::size_t threads;
    std::size_t cores;
  };
  std::vector<Group> groups;
  for (const Core& core : machine.cores) {
    if (!core.cpus.intersects(cpus)) continue;
    const std::size_t threads = core.cpus.count();
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.kind == core.kind && group.threads == threads;
    });
    if (same != groups.end()) {
      ++same->cores;
    } else {
      groups.push_back({core.kind, threads, 1});
    }
  }
  std::string text;
  for (const Group& group : groups) {
    if (!text.empty()) text += ", ";
    const std::string kind = machine.kinds.size() > 1
                                 ? machine.kinds[static_cast<std::size_t>(group.kind)].name + ' '
                                 : std::string();
    text += fmt::format("{} {}{}", group.cores, kind, group.cores == 1 ? "core" : "cores");
    if (group.threads > 1) text += fmt::format(" x {} threads", group.threads);
  }
  return text;
}

std::string cache_name(const CacheDomain& llc) {
  if (llc.level == 0) return "cache not described";
  return llc.bytes > 0 ? fmt::format("L{} {}", llc.level, bytes_text(llc.bytes))
                       : fmt::format("L{}", llc.level);
}

Drawing::Item llc_item(const Machine& machine, const CacheDomain& llc, const CpuMask& within) {
  const CpuMask cpus = llc.cpus & within;
  const bool part = cpus != llc.cpus;
  return {fmt::format("{}{}  CPUs {}  {}{}", cache_name(llc), part ? " (shared beyond this node)" : "",
                      cpus.list(), cores_text(machine, cpus), allowed_note(cpus, cpus & machine.usable)),
          {}};
}

std::string node_text(const Machine& machine, std::size_t index) {
  const Node& node = machine.nodes[index];
  std::string memory = !node.has_memory        ? "no memory"
                       : node.memory_bytes > 0 ? bytes_text(node.memory_bytes)
                                               : "memory";
  if (node.has_memory && !node.memory_allowed) memory += " (not allowed)";
  std::string text = fmt::format("Node {}  {}  {}{}", node.os,
                                 node.cpus.empty() ? "no CPUs" : fmt::format("CPUs {}", node.cpus.list()),
                                 memory, allowed_note(node.cpus, node.usable));
  if (node.access.read_latency_ns != 0) text += fmt::format("  read {} ns", node.access.read_latency_ns);
  if (node.access.read_bandwidth_mbs != 0) text += fmt::format("  {} MB/s", node.access.read_bandwidth_mbs);
  return text;
}

std::string table(const topology::Matrix<std::uint32_t>& matrix, const std::vector<std::string>& names) {
  std::size_t width = 4;
  for (const std::string& name : names) width = std::max(width, name.size() + 1);
  std::string text = fmt::format("  {:>{}}", "", width);
  for (const std::string& name : names) text += fmt::format("{:>{}}", name, width);
  text += '\n';
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    text += fmt::format("  {:>{}}", names[row], width);
    for (std::size_t column = 0; column < matrix.size(); ++column)
      text += fmt::format("{:>{}}", matrix.at(row, column), width);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string describe_machine(const Machine& machine, bool utf8) {
  std::string text;
  if (!machine.name.empty()) text += fmt::format("Machine   {}\n", machine.name);
  text += fmt::format("Source    {}: {}{}\n", topology::source_name(machine.source), machine.origin,
                      machine.pretended ? " (pretended: threads are not bound to its CPUs)" : "");
  text += fmt::format("Detected  {}, {}, {}, {}, CPUs {}{}\n",
                      counted(machine.packages.size(), "package", "packages"),
                      counted(machine.nodes.size(), "NUMA node", "NUMA nodes"),
                      counted(machine.llcs.size(), "last-level cache", "last-level caches"),
                      counted(machine.cores.size(), "core", "cores"), machine.online.list(),
                      machine.offline.empty() ? "" : fmt::format(" (offline: {})", machine.offline.list()));
  text += fmt::format("Allowed   CPUs {} ({})\n", machine.usable.list(), affinity_source(machine));
  text += fmt::format("          memory of nodes {} ({})\n", list_or(machine.memory_nodes, "none"),
                      memory_source(machine));
  if (machine.quota.limited()) {
    text += fmt::format("          CPU time of {:g} CPUs ({}: {} us in {} us)\n", machine.quota.cpus(),
                        machine.quota.file, machine.quota.quota_us, machine.quota.period_us);
  } else if (machine.source == Source::sysfs) {
    text += "          CPU time without a quota (cgroup v1 and v2)\n";
  }
  text += fmt::format("Team      {} by default: {}\n",
                      counted(machine.default_team_size(), "thread", "threads"), team_reason(machine));

  std::vector<Drawing::Item> packages;
  std::vector<bool> drawn(machine.nodes.size(), false);
  for (const topology::Package& package : machine.packages) {
    Drawing::Item item{fmt::format("Package {}  CPUs {}{}", package.os, package.cpus.list(),
                                   allowed_note(package.cpus, package.usable)),
                       {}};
    CpuMask rest = package.cpus;
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
      const Node& node = machine.nodes[n];
      const CpuMask here = node.cpus & package.cpus;
      if (here.empty()) continue;
      drawn[n] = true;
      rest -= here;
      Drawing::Item below{node_text(machine, n), {}};
      for (const CacheDomain& llc : machine.llcs) {
        if (llc.cpus.intersects(here)) below.below.push_back(llc_item(machine, llc, here));
      }
      item.below.push_back(std::move(below));
    }
    for (const CacheDomain& llc : machine.llcs) {
      if (llc.cpus.intersects(rest)) item.below.push_back(llc_item(machine, llc, rest));
    }
    packages.push_back(std::move(item));
  }
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    if (!drawn[n]) packages.push_back({node_text(machine, n), {}});
  }
  Drawing drawing(utf8);
  drawing.draw(packages);
  text += '\n' + drawing.take();

  if (machine.location_kind == LocationKind::home_cache) {
    text +=
        fmt::format("\nLocations: {} home caches; distances from {}, 10 is the nearest, the farthest is {}\n",
                    machine.locations.size(), topology::distance_source_name(machine.distance_source), [&] {
                      std::uint32_t farthest = 0;
                      for (std::size_t i = 0; i < machine.locations.size(); ++i) {
                        for (std::size_t j = 0; j < machine.locations.size(); ++j) {
                          farthest = std::max(farthest, machine.location_distance.at(i, j));
                        }
                      }
                      return farthest;
                    }());
    return text;
  }
  std::vector<std::string> names;
  names.reserve(machine.locations.size());
  const bool llcs = machine.location_kind == LocationKind::llc;
  for (std::size_t i = 0; i < machine.locations.size(); ++i) {
    const Location& location = machine.locations[i];
    const unsigned node = machine.nodes[static_cast<std::size_t>(location.node)].os;
    names.push_back(llcs ? fmt::format("{}:{}", i, node) : fmt::format("{}", node));
  }
  const char* what = llcs ? "last-level cache" : "node";
  if (names.size() == 1) return text + fmt::format("\nLocations: 1 {}\n", what);
  text +=
      fmt::format("\nLocations: {} {}s; distances from {} (row: who computes, column: where the data is)\n",
                  names.size(), what, topology::distance_source_name(machine.distance_source));
  if (llcs) text += "  location:node; 11, between the caches of a node, is assumed\n";
  text += table(machine.location_distance, names);
  return text;
}

// ---- JSON

std::string machine_json(const Machine& machine) {
  using Json = nlohmann::ordered_json;
  const auto matrix = [](const auto& values) {
    Json rows = Json::array();
    for (std::size_t row = 0; row < values.size(); ++row) {
      Json line = Json::array();
      for (std::size_t column = 0; column < values.size(); ++column) line.push_back(values.at(row, column));
      rows.push_back(std::move(line));
    }
    return rows;
  };
  Json json;
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
  allowed["quota"] = nullptr;
  if (machine.quota.limited()) {
    allowed["quota"] = {{"cpus", machine.quota.cpus()},
                        {"quota_us", machine.quota.quota_us},
                        {"period_us", machine.quota.period_us},
                        {"from", machine.quota.file}};
  }
  json["default_team_size"] = machine.default_team_size();
  json["default_team_size_because"] = team_reason(machine);
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
  json["last_level_caches"] = Json::array();
  for (const CacheDomain& llc : machine.llcs) {
    json["last_level_caches"].push_back({{"level", llc.level},
                                         {"bytes", llc.bytes},
                                         {"line_bytes", llc.line_bytes},
                                         {"cpus", llc.cpus.list()},
                                         {"allowed", llc.usable.list()},
                                         {"package", llc.package},
                                         {"nodes", llc.nodes}});
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
  return json.dump(2) + '\n';
}

// ---- gather and replay

namespace {

// Keeps the lines for which `keep` says yes.
template <class Keep>
std::string filtered(const std::string& text, Keep&& keep) {
  std::string kept;
  std::size_t start = 0;
  while (start < text.size()) {
    std::size_t end = text.find('\n', start);
    if (end == std::string::npos) end = text.size();
    const std::string_view line(text.data() + start, end - start);
    if (keep(line)) kept.append(line).push_back('\n');
    start = end + 1;
  }
  return kept;
}

bool starts_with_any(std::string_view line, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return line.rfind(start, 0) == 0; });
}

class Gatherer {
 public:
  explicit Gatherer(const SystemRoot& root) : root_(root) {}

  void add(const std::string& path) {
    std::string content;
    if (root_.read(path.c_str(), content)) keep(path, std::move(content));
  }
  template <class Keep>
  void add_lines(const std::string& path, Keep&& lines) {
    std::string content;
    if (root_.read(path.c_str(), content)) keep(path, filtered(content, lines));
  }
  void add_all(const std::string& folder, std::initializer_list<const char*> names) {
    for (const char* name : names) add(folder + '/' + name);
  }
  void keep(const std::string& path, std::string content) {
    files_.push_back({path.substr(1), std::move(content)});
  }

  const std::vector<ArchiveFile>& files() const { return files_; }

 private:
  const SystemRoot& root_;
  std::vector<ArchiveFile> files_;
};

}  // namespace

Gathered gather(const SystemRoot& root, const CpuMask& affinity, const std::string& path) {
  Gatherer files(root);
  const std::string cpus = "/sys/devices/system/cpu";
  files.add_all(cpus, {"online", "offline", "possible", "present", "kernel_max"});
  root.numbered_entries(cpus.c_str(), "cpu").for_each([&](unsigned number) {
    const std::string cpu = fmt::format("{}/cpu{}", cpus, number);
    files.add_all(cpu, {"online", "cpu_capacity", "acpi_cppc/nominal_perf", "acpi_cppc/highest_perf",
                        "acpi_cppc/nominal_freq", "cpufreq/cpuinfo_max_freq", "cpufreq/base_frequency"});
    files.add_all(cpu + "/topology",
                  {"core_id", "physical_package_id", "die_id", "cluster_id", "book_id", "drawer_id",
                   "core_cpus", "core_cpus_list", "thread_siblings", "thread_siblings_list", "package_cpus",
                   "package_cpus_list", "core_siblings", "core_siblings_list", "die_cpus", "die_cpus_list",
                   "cluster_cpus", "cluster_cpus_list"});
    root.numbered_entries((cpu + "/cache").c_str(), "index").for_each([&](unsigned index) {
      files.add_all(
          fmt::format("{}/cache/index{}", cpu, index),
          {"level", "type", "size", "id", "shared_cpu_list", "shared_cpu_map", "coherency_line_size",
           "ways_of_associativity", "number_of_sets", "physical_line_partition"});
    });
  });
  for (const char* kind : {"cpu_core", "cpu_atom", "cpu_lowpower"})
    files.add(fmt::format("/sys/devices/{}/cpus", kind));

  const std::string nodes = "/sys/devices/system/node";
  files.add_all(
      nodes, {"online", "possible", "has_cpu", "has_memory", "has_normal_memory", "has_generic_initiator"});
  root.numbered_entries(nodes.c_str(), "node").for_each([&](unsigned number) {
    const std::string node = fmt::format("{}/node{}", nodes, number);
    files.add_all(node, {"cpulist", "cpumap", "distance"});
    files.add_lines(node + "/meminfo",
                    [](std::string_view line) { return line.find("MemTotal") != std::string_view::npos; });
    for (const char* access : {"access0", "access1"}) {
      const std::string initiators = fmt::format("{}/{}/initiators", node, access);
      files.add_all(initiators, {"read_latency", "write_latency", "read_bandwidth", "write_bandwidth"});
      // These are links to the nodes' folders; that they are there is all anybody reads.
      root.numbered_entries(initiators.c_str(), "node").for_each([&](unsigned from) {
        files.keep(fmt::format("{}/node{}/cpulist", initiators, from), "");
      });
    }
  });

  files.add("/proc/self/cgroup");
  files.add_lines("/proc/self/mountinfo",
                  [](std::string_view line) { return line.find(" - cgroup") != std::string_view::npos; });
  std::string status = fmt::format("Cpus_allowed_list:\t{}\n", affinity.list());
  std::string own_status;
  if (root.read("/proc/self/status", own_status)) {
    status +=
        filtered(own_status, [](std::string_view line) { return starts_with_any(line, {"Mems_allowed"}); });
  }
  files.keep("/proc/self/status", std::move(status));
  files.add_lines("/proc/cpuinfo", [](std::string_view line) {
    return line.empty() || starts_with_any(line, {"processor", "vendor_id", "cpu family", "model", "stepping",
                                                  "physical id", "core id", "siblings", "cpu cores", "CPU "});
  });
  files.add_lines("/proc/meminfo",
                  [](std::string_view line) { return starts_with_any(line, {"MemTotal", "Hugepagesize"}); });
  for (const std::string& folder : topology::cpu_cgroup_folders(root)) {
    files.add_all(folder == "/" ? std::string() : folder, {"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us",
                                                           "cpuset.cpus.effective", "cpuset.mems.effective"});
  }
  write_archive(path, files.files());
  Gathered gathered;
  gathered.files = files.files().size();
  std::error_code unknown;
  gathered.bytes = static_cast<std::size_t>(std::filesystem::file_size(path, unknown));
  return gathered;
}

namespace {

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

Machine replayed(const std::string& path) {
  std::unique_ptr<UnpackedArchive> unpacked;
  std::string folder = path;
  if (!std::filesystem::is_directory(path)) {
    unpacked = std::make_unique<UnpackedArchive>(read_archive(path));
    folder = unpacked->folder();
  }
  const SystemRoot root(folder);
  if (!root.exists("/sys/devices/system/cpu") && !root.exists("/proc/self/status")) {
    throw std::runtime_error(
        fmt::format("{}: holds no recorded machine; `hearth topo --gather` writes one", path));
  }
  Machine machine =
      topology::read_sysfs(root, topology::read_allowance(root, topology::recorded_affinity(root)));
  machine.origin = path;
  machine.pretended = true;
  if (const std::string wrong = machine.inconsistency(); !wrong.empty()) {
    throw std::runtime_error(fmt::format("{}: the recording contradicts itself: {}", path, wrong));
  }
  return machine;
}

void run(const TopoOptions& options) {
  if (!options.gather.empty()) {
    const Gathered gathered = gather(SystemRoot(), topology::current_affinity(), options.gather);
    put(stdout,
        "Wrote {}: {} files, {}. It describes processors, caches, memory nodes and this process's cgroups "
        "(their "
        "names included), nothing else; `hearth topo --replay {}` shows it.\n",
        options.gather, gathered.files, bytes_text(gathered.bytes), options.gather);
    return;
  }
  Machine machine;
  std::string description = options.machine;
  std::string variable = "--machine";
  if (description.empty() && options.replay.empty()) {
    if (const char* value = std::getenv("HEARTH_MACHINE"); value != nullptr) description = value;
    variable = "HEARTH_MACHINE";
  }
  if (!options.replay.empty()) {
    machine = replayed(options.replay);
  } else if (!description.empty()) {
    LoadedMachine loaded = topology::load_machine(description, topology::model_folders());
    if (!loaded.ok())
      throw std::runtime_error(fmt::format("{}=\"{}\": {}", variable, description, loaded.error));
    machine = std::move(loaded.machine);
  } else {
    machine = topology::read_sysfs(SystemRoot(), topology::allowance());
  }
  std::string location = options.location;
  variable = "--location";
  if (const char* value = std::getenv("HEARTH_LOCATION"); location.empty() && value != nullptr) {
    location = value;
    variable = "HEARTH_LOCATION";
  }
  if (same_word(location, "llc"))
    machine.use_locations(LocationKind::llc);
  else if (!location.empty() && !same_word(location, "node"))
    throw std::runtime_error(
        fmt::format("{}=\"{}\": not a word that is known; legal: node or llc", variable, location));
  const std::string text =
      options.json ? machine_json(machine) : describe_machine(machine, terminal_speaks_utf8());
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void register_topo(CLI::App& app) {
  auto options = std::make_shared<TopoOptions>();
  CLI::App* topo = app.add_subcommand("topo", "Show the machine, and what this process may use of it");
  topo->add_flag("--json", options->json, "Print JSON instead of text");
  CLI::Option* machine = topo->add_option("--machine", options->machine,
                                          "Show this machine instead: a model's name, a model file (.toml), "
                                          "an hwloc XML file (.xml), or an hwloc "
                                          "synthetic string")
                             ->type_name("MACHINE");
  topo->add_option("--location", options->location,
                   "What the locations are: node or llc (last-level caches), as HEARTH_LOCATION has it")
      ->type_name("node|llc");
  CLI::Option* replay =
      topo->add_option("--replay", options->replay, "Show the machine recorded in this file")
          ->type_name("FILE.tar.gz")
          ->excludes(machine);
  CLI::Option* gather =
      topo->add_option("--gather", options->gather, "Record this machine into a file, for a bug report")
          ->type_name("FILE.tar.gz")
          ->excludes(machine)
          ->excludes(replay);
  CLI::Option* measure =
      topo->add_flag("--measure", options->measure, "Measure this machine: print a model of it")
          ->excludes(machine)
          ->excludes(replay)
          ->excludes(gather);
  topo->add_option("--write", options->measuring.file, "Write the model to this file instead")
      ->type_name("FILE.toml")
      ->needs(measure);
  topo->add_flag("--quick", options->measuring.quick, "Measure for seconds instead of minutes")
      ->needs(measure);
  topo->callback([options] {
    try {
      if (options->measure) {
        if (const int status = measure::run(options->measuring); status != 0) throw CLI::RuntimeError(status);
      } else {
        run(*options);
      }
    } catch (const CLI::RuntimeError&) {
      throw;
    } catch (const std::exception& error) {
      put(stderr, "hearth: topo: {}\n", error.what());
      throw CLI::RuntimeError(1);
    }
  });
}

}  // namespace hearth::cli
