// The text of `hearth topo`: what was detected and what of it may be used, a drawing of packages, nodes and caches, and
// the locations with their distances.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/topo.h"
#include "cli/topo_words.h"

namespace hearth::cli {
namespace {

using topology::CacheDomain;
using topology::Core;
using topology::CpuMask;
using topology::Location;
using topology::LocationKind;
using topology::Machine;
using topology::Node;
using topology::Source;

std::string list_or(const CpuMask& mask, const char* otherwise) {
  return mask.empty() ? otherwise : mask.list();
}

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

std::string summary_text(const Machine& machine) {
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
  return text;
}

std::string drawing_text(const Machine& machine, bool utf8) {
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
  return '\n' + drawing.take();
}

std::string home_caches_text(const Machine& machine) {
  std::uint32_t farthest = 0;
  for (std::size_t i = 0; i < machine.locations.size(); ++i)
    for (std::size_t j = 0; j < machine.locations.size(); ++j)
      farthest = std::max(farthest, machine.location_distance.at(i, j));
  return fmt::format("\nLocations: {} home caches; distances from {}, 10 is the nearest, the farthest is {}\n",
                     machine.locations.size(), topology::distance_source_name(machine.distance_source), farthest);
}

std::string locations_text(const Machine& machine) {
  if (machine.location_kind == LocationKind::home_cache) return home_caches_text(machine);
  std::vector<std::string> names;
  names.reserve(machine.locations.size());
  const bool llcs = machine.location_kind == LocationKind::llc;
  for (std::size_t i = 0; i < machine.locations.size(); ++i) {
    const Location& location = machine.locations[i];
    const unsigned node = machine.nodes[static_cast<std::size_t>(location.node)].os;
    names.push_back(llcs ? fmt::format("{}:{}", i, node) : fmt::format("{}", node));
  }
  const char* what = llcs ? "last-level cache" : "node";
  if (names.size() == 1) return fmt::format("\nLocations: 1 {}\n", what);
  std::string text =
      fmt::format("\nLocations: {} {}s; distances from {} (row: who computes, column: where the data is)\n",
                  names.size(), what, topology::distance_source_name(machine.distance_source));
  if (llcs) text += "  location:node; 11, between the caches of a node, is assumed\n";
  text += table(machine.location_distance, names);
  return text;
}

}  // namespace

std::string describe_machine(const Machine& machine, bool utf8) {
  return summary_text(machine) + drawing_text(machine, utf8) + locations_text(machine);
}

}  // namespace hearth::cli
