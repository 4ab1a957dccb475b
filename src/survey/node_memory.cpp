// See node_memory.h.
#include "survey/node_memory.h"

#include <cstdlib>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace hearth::survey {
namespace {

using topology::SystemRoot;

// "Node 0 MemFree:  1234 kB"; 0: not there.
std::uint64_t figure(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + name.size(), nullptr, 10) * 1024;
}

std::vector<NodeUse> read_nodes(const SystemRoot& root) {
  constexpr const char* kFolder = "/sys/devices/system/node";
  std::vector<NodeUse> nodes;
  root.numbered_entries(kFolder, "node").for_each([&](unsigned node) {
    std::string text;
    if (root.read(fmt::format("{}/node{}/meminfo", kFolder, node).c_str(), text))
      nodes.push_back({node, figure(text, "MemTotal:"), figure(text, "MemFree:"), figure(text, "FilePages:")});
  });
  return nodes;
}

// A line of numa_maps: "7f... default anon=3 dirty=3 N0=2 N1=1 kernelpagesize_kB=4".
void add_line(std::string_view line, const std::vector<NodeUse>& nodes, ProcessUse& process) {
  std::vector<std::uint64_t> pages(nodes.size());
  std::uint64_t page_bytes = 4096;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string word(line.substr(at, end - at));
    at = end + 1;
    char* after = nullptr;
    if (word.starts_with("kernelpagesize_kB=")) {
      page_bytes = std::strtoull(word.c_str() + 18, nullptr, 10) * 1024;
    } else if (word.starts_with("file=")) {
      process.on_hearth |= word.find("/libhearth.so") != std::string::npos;
    } else if (word.size() > 1 && word[0] == 'N' && word[1] >= '0' && word[1] <= '9') {
      const auto number = std::strtoul(word.c_str() + 1, &after, 10);
      for (std::size_t i = 0; i < nodes.size() && *after == '='; ++i)
        if (nodes[i].node == number) pages[i] += std::strtoull(after + 1, nullptr, 10);
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    process.bytes[i] += pages[i] * page_bytes;
    process.all += pages[i] * page_bytes;
  }
}

// False: it is another user's, or has ended.
bool read_process(const SystemRoot& root, unsigned pid, const std::vector<NodeUse>& nodes, ProcessUse& process) {
  std::string maps;
  if (!root.read(fmt::format("/proc/{}/numa_maps", pid).c_str(), maps)) return false;
  process.pid = pid;
  process.bytes.assign(nodes.size(), 0);
  root.read_line(fmt::format("/proc/{}/comm", pid).c_str(), process.name);
  for (std::size_t at = 0; at < maps.size();) {
    const std::size_t end = std::min(maps.find('\n', at), maps.size());
    add_line(std::string_view(maps).substr(at, end - at), nodes, process);
    at = end + 1;
  }
  return true;
}

std::vector<unsigned> list_processes(const SystemRoot& root) {
  std::vector<unsigned> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root.prefix() + "/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos)
      pids.push_back(static_cast<unsigned>(std::strtoul(name.c_str(), nullptr, 10)));
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

}  // namespace

NodeMemory read_node_memory(const SystemRoot& root, const std::vector<unsigned>& only) {
  NodeMemory memory;
  memory.nodes = read_nodes(root);
  const auto add = [&](unsigned pid) {
    ProcessUse process;
    if (!read_process(root, pid, memory.nodes, process))
      ++memory.unreadable;
    else if (process.all != 0)
      memory.processes.push_back(std::move(process));
  };
  if (only.empty())
    for (const unsigned pid : list_processes(root)) add(pid);
  else
    for (const unsigned pid : only) add(pid);
  std::stable_sort(memory.processes.begin(), memory.processes.end(),
                   [](const ProcessUse& a, const ProcessUse& b) { return a.all > b.all; });
  return memory;
}

}  // namespace hearth::survey
