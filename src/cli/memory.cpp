// See memory.h. The numbers are survey/node_memory.h's.
#include "cli/memory.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/output.h"
#include "survey/node_memory.h"

namespace hearth::cli {
namespace {

using survey::NodeMemory;
using survey::NodeUse;
using survey::ProcessUse;

constexpr std::size_t kMostShown = 20;

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

std::string text_of(const NodeMemory& memory, bool all) {
  std::string text = "Memory of the nodes, MiB\n  node       total        used        free  file cache\n";
  for (const NodeUse& node : memory.nodes)
    text += fmt::format("  {:4}  {:10.1f}  {:10.1f}  {:10.1f}  {:10.1f}\n", node.node, mib(node.total),
                        mib(node.total - std::min(node.total, node.free)), mib(node.free), mib(node.file_cache));
  text += "\nBy process, MiB (pages that several have count for each; * runs on Hearth)\n        pid            all";
  for (const NodeUse& node : memory.nodes) text += fmt::format("{:>12}", fmt::format("node {}", node.node));
  text += "  name\n";
  const std::size_t shown = all ? memory.processes.size() : std::min(memory.processes.size(), kMostShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const ProcessUse& process = memory.processes[i];
    text += fmt::format("  {:>9}{}  {:12.1f} ", process.pid, process.on_hearth ? '*' : ' ', mib(process.all));
    for (const std::uint64_t bytes : process.bytes) text += fmt::format("{:12.1f}", mib(bytes));
    text += fmt::format("  {}\n", process.name);
  }
  if (memory.processes.size() > shown)
    text += fmt::format("  {} smaller; --all shows them\n", counted(memory.processes.size() - shown, "process", "processes"));
  if (memory.unreadable != 0)
    text += fmt::format("  {} cannot be read: of other users, or without memory of their own\n",
                        counted(memory.unreadable, "process", "processes"));
  return text;
}

std::string json_of(const NodeMemory& memory) {
  Json json;
  json["nodes"] = Json::array();
  for (const NodeUse& node : memory.nodes)
    json["nodes"].push_back({{"node", node.node},
                             {"total_bytes", node.total},
                             {"used_bytes", node.total - std::min(node.total, node.free)},
                             {"free_bytes", node.free},
                             {"file_cache_bytes", node.file_cache}});
  json["processes"] = Json::array();
  for (const ProcessUse& process : memory.processes)
    json["processes"].push_back({{"pid", process.pid},
                                 {"name", process.name},
                                 {"on_hearth", process.on_hearth},
                                 {"bytes", process.all},
                                 {"bytes_by_node", Json::array(process.bytes)}});
  json["unreadable_processes"] = memory.unreadable;
  return json.dump(2) + "\n";
}

}  // namespace

int memory_main(const MemoryRequest& request) {
  const topology::SystemRoot root = request.root.empty() ? topology::SystemRoot() : topology::SystemRoot(request.root);
  const NodeMemory memory = survey::read_node_memory(root, request.pids);
  if (memory.nodes.empty()) {
    say("memory: {}/sys/devices/system/node tells of no node", request.root);
    return kExitFailed;
  }
  if (!request.pids.empty() && memory.unreadable != 0) {
    say("memory: {} cannot be read: ended, or another user's", counted(memory.unreadable, "process", "processes"));
    return kExitFailed;
  }
  put_text(stdout, request.json ? json_of(memory) : text_of(memory, request.all));
  return 0;
}

}  // namespace hearth::cli
