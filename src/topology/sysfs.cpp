// The sysfs reader. See sysfs.h for its promises.
//
// File names that changed over time are tried newest first: core_cpus_list/thread_siblings_list (Linux 5.3),
// package_cpus_list/core_siblings_list.
#include "topology/sysfs.h"

#include <algorithm>

#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr const char* kCpus = "/sys/devices/system/cpu";
constexpr const char* kNodes = "/sys/devices/system/node";

CpuMask read_online(const SystemRoot& root) {
  CpuMask online;
  if (root.read_list("/sys/devices/system/cpu/online", online) && !online.empty()) return online;
  // No list (a sandbox shows the folders only): CPUs with a topology folder are on.
  root.numbered_entries(kCpus, "cpu").for_each([&](unsigned cpu) {
    if (root.exists(format("%s/cpu%u/topology", kCpus, cpu).c_str())) online.set(cpu);
  });
  return online;
}

// The list in whichever of the two files exists, cut to what is online, always with `cpu` itself.
CpuMask siblings(const SystemRoot& root, unsigned cpu, const char* newer, const char* older, const CpuMask& online) {
  CpuMask list;
  if (!root.read_list(format("%s/cpu%u/topology/%s", kCpus, cpu, newer).c_str(), list)) {
    root.read_list(format("%s/cpu%u/topology/%s", kCpus, cpu, older).c_str(), list);
  }
  list &= online;
  list.set(cpu);
  return list;
}

// Where nobody says which CPUs share a package, there is one.
CpuMask package_of(const SystemRoot& root, unsigned cpu, const CpuMask& online) {
  const std::string folder = format("%s/cpu%u/topology", kCpus, cpu);
  if (!root.exists(folder.c_str())) return online;
  return siblings(root, cpu, "package_cpus_list", "core_siblings_list", online);
}

unsigned read_id(const SystemRoot& root, unsigned cpu, const char* name) {
  std::int64_t id = 0;
  if (!root.read_number(format("%s/cpu%u/topology/%s", kCpus, cpu, name).c_str(), id) || id < 0) return 0;
  return static_cast<unsigned>(id);  // some firmwares number packages in the hundreds; -1 means unknown
}

// "32768K", "36M", or a bare number of bytes.
std::uint64_t read_cache_size(const SystemRoot& root, const std::string& path) {
  std::string text;
  if (!root.read_line(path.c_str(), text)) return 0;
  Scanner scan(text);
  std::uint64_t size = 0;
  if (!scan.number(size, std::uint64_t{1} << 50)) return 0;
  if (scan.take('K')) return size << 10;
  if (scan.take('M')) return size << 20;
  if (scan.take('G')) return size << 30;
  return size;
}

// The largest-level cache above `cpu` that holds data; its CPUs are only `cpu` when there is none.
bool read_last_level_cache(const SystemRoot& root, unsigned cpu, const CpuMask& online, CacheDomain& out) {
  std::int64_t best_level = 0;
  int best_index = -1;
  int first_index = -1;  // of the first level
  for (int index = 0; index < 16; ++index) {
    std::int64_t level = 0;
    if (!root.read_number(format("%s/cpu%u/cache/index%d/level", kCpus, cpu, index).c_str(), level)) break;
    if (level <= best_level) continue;
    std::string type;
    root.read_line(format("%s/cpu%u/cache/index%d/type", kCpus, cpu, index).c_str(), type);
    if (type == "Instruction") continue;
    best_level = level;
    best_index = index;
    if (level == 1) first_index = index;
  }
  if (best_index < 0) return false;
  if (first_index >= 0)
    out.l1d_bytes = read_cache_size(root, format("%s/cpu%u/cache/index%d/size", kCpus, cpu, first_index));
  const std::string folder = format("%s/cpu%u/cache/index%d/", kCpus, cpu, best_index);
  out.level = static_cast<unsigned>(best_level);
  out.bytes = read_cache_size(root, folder + "size");
  std::int64_t line = 0;
  if (root.read_number((folder + "coherency_line_size").c_str(), line) && line > 0)
    out.line_bytes = static_cast<unsigned>(line);
  root.read_list((folder + "shared_cpu_list").c_str(), out.cpus);
  out.cpus &= online;
  out.cpus.set(cpu);
  return true;
}

void read_cpus(const SystemRoot& root, Machine& machine) {
  CpuMask with_core;
  CpuMask with_package;
  CpuMask with_cache;
  machine.online.for_each([&](unsigned cpu) {
    if (!with_core.test(cpu)) {
      Core core;
      core.os = read_id(root, cpu, "core_id");
      core.cpus = siblings(root, cpu, "core_cpus_list", "thread_siblings_list", machine.online) - with_core;
      with_core |= core.cpus;
      machine.cores.push_back(std::move(core));
    }
    if (!with_package.test(cpu)) {
      Package package;
      package.os = read_id(root, cpu, "physical_package_id");
      package.cpus = package_of(root, cpu, machine.online) - with_package;
      with_package |= package.cpus;
      machine.packages.push_back(std::move(package));
    }
    if (!with_cache.test(cpu)) {
      CacheDomain cache;
      if (read_last_level_cache(root, cpu, machine.online, cache)) {
        cache.cpus -= with_cache;
        with_cache |= cache.cpus;
        machine.llcs.push_back(std::move(cache));
      }
    }
  });
}

// CPUs by the value of a file of theirs.
struct Ranked {
  std::int64_t value;
  CpuMask cpus;
};

// Values within a tenth are one kind: frequency bins of the same core differ by a few per cent.
void merge_close(std::vector<Ranked>& ranks) {
  for (std::size_t i = 1; i < ranks.size();) {
    if (ranks[i].value * 10 <= ranks[i - 1].value * 11) {
      ranks[i - 1].cpus |= ranks[i].cpus;
      ranks[i - 1].value = ranks[i].value;
      ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// Groups the CPUs by what their `file` says, rising. Empty unless all of them have it.
std::vector<Ranked> rank_by(const SystemRoot& root, const char* file, const CpuMask& which) {
  std::vector<Ranked> ranks;
  bool all = true;
  which.for_each([&](unsigned cpu) {
    std::int64_t value = 0;
    if (!all) return;
    if (!root.read_number(format("%s/cpu%u/%s", kCpus, cpu, file).c_str(), value) || value <= 0) {
      all = false;
      return;
    }
    const auto same = std::find_if(ranks.begin(), ranks.end(), [&](const Ranked& rank) { return rank.value == value; });
    if (same != ranks.end()) {
      same->cpus.set(cpu);
    } else {
      ranks.push_back({value, {}});
      ranks.back().cpus.set(cpu);
    }
  });
  if (!all) ranks.clear();
  std::sort(ranks.begin(), ranks.end(), [](const Ranked& a, const Ranked& b) { return a.value < b.value; });
  merge_close(ranks);
  return ranks;
}

// The groups that Intel's hybrid processors name.
void read_intel_kinds(const SystemRoot& root, Machine& machine) {
  struct Group {
    const char* file;
    const char* name;
  };
  constexpr Group kIntel[] = {{"/sys/devices/cpu_lowpower/cpus", "low-power"},
                              {"/sys/devices/cpu_atom/cpus", "efficiency"},
                              {"/sys/devices/cpu_core/cpus", "performance"}};
  for (const Group& group : kIntel) {
    CpuMask members;
    if (!root.read_list(group.file, members)) continue;
    members &= machine.online;
    for (const CoreKind& kind : machine.kinds) members -= kind.cpus;
    if (!members.empty()) machine.kinds.push_back({group.name, 0, members});
  }
  if (machine.kinds.size() == 1) machine.kinds.clear();  // a plain machine whose PMU carries the hybrid name
}

// The file that tells how fast a CPU is, or null. Not CPPC's highest performance: AMD ranks the cores of one kind by that.
const char* speed_file(const SystemRoot& root, const Machine& machine) {
  for (const char* file : {"cpu_capacity", "acpi_cppc/nominal_perf"}) {
    if (root.exists(format("%s/cpu%u/%s", kCpus, machine.online.first(), file).c_str())) return file;
  }
  return nullptr;
}

void make_kinds_by_speed(const SystemRoot& root, const char* file, Machine& machine) {
  const std::vector<Ranked> ranks = rank_by(root, file, machine.online);
  if (ranks.size() < 2) return;
  const std::int64_t fastest = ranks.back().value;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const char* name = i + 1 == ranks.size() ? "performance" : i == 0 ? "efficiency" : "middle";
    const std::string numbered = i > 0 && i + 1 < ranks.size() && ranks.size() > 3 ? format("%s-%zu", name, i) : name;
    machine.kinds.push_back({numbered, static_cast<unsigned>(ranks[i].value * 1024 / fastest), ranks[i].cpus});
  }
}

void read_capacities(const SystemRoot& root, const char* file, Machine& machine) {
  std::vector<std::int64_t> values;
  for (const CoreKind& kind : machine.kinds) {
    std::int64_t value = 0;
    root.read_number(format("%s/cpu%u/%s", kCpus, kind.cpus.first(), file).c_str(), value);
    values.push_back(value);
  }
  const std::int64_t fastest = *std::max_element(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size() && fastest > 0; ++i) {
    machine.kinds[i].capacity = values[i] > 0 ? static_cast<unsigned>(values[i] * 1024 / fastest) : 0;
  }
}

// Core kinds, from whichever source this machine has. Intel's hybrid processors name their groups; ARM has cpu_capacity;
// elsewhere CPPC's nominal performance tells.
void read_kinds(const SystemRoot& root, Machine& machine) {
  read_intel_kinds(root, machine);
  const char* file = speed_file(root, machine);
  if (file == nullptr) return;
  if (machine.kinds.empty()) {
    make_kinds_by_speed(root, file, machine);
  } else {
    read_capacities(root, file, machine);
  }
}

std::uint64_t memory_line(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  Scanner scan(text.substr(at + key.size()));
  scan.skip_space();
  std::uint64_t kib = 0;
  return scan.number(kib, std::uint64_t{1} << 50) ? kib << 10 : 0;
}

std::uint32_t read_figure(const SystemRoot& root, const std::string& folder, const char* name) {
  std::int64_t value = 0;
  if (!root.read_number((folder + name).c_str(), value) || value < 0 || value > UINT32_MAX) return 0;
  return static_cast<std::uint32_t>(value);
}

void read_access(const SystemRoot& root, Node& node) {
  // access1 counts processors only, access0 any initiator (also GPUs): ours are processors. Old kernels have
  // access0 only.
  for (const char* level : {"access1", "access0"}) {
    const std::string folder = format("%s/node%u/%s/initiators/", kNodes, node.os, level);
    if (!root.exists(folder.c_str())) continue;
    node.access.read_latency_ns = read_figure(root, folder, "read_latency");
    node.access.write_latency_ns = read_figure(root, folder, "write_latency");
    node.access.read_bandwidth_mbs = read_figure(root, folder, "read_bandwidth");
    node.access.write_bandwidth_mbs = read_figure(root, folder, "write_bandwidth");
    node.access.initiators = root.numbered_entries(folder.c_str(), "node");
    if (node.access.read_latency_ns != 0 || node.access.read_bandwidth_mbs != 0) return;
  }
}

// A kernel without NUMA: one node that is the machine.
void add_only_node(const SystemRoot& root, Machine& machine) {
  std::string text;
  Node node;
  node.cpus = machine.online;
  node.has_memory = true;
  if (root.read("/proc/meminfo", text)) node.memory_bytes = memory_line(text, "MemTotal:");
  machine.nodes.push_back(std::move(node));
}

// The SLIT, a row for each node: one number per online node, holes left out, in rising order.
void read_distances(const std::vector<std::string>& rows, Machine& machine) {
  const std::size_t size = machine.nodes.size();
  Matrix<std::uint32_t> slit(size, 0);
  bool whole = true;
  for (std::size_t row = 0; row < size; ++row) {
    Scanner scan(rows[row]);
    for (std::size_t column = 0; column < size; ++column) {
      std::uint32_t distance = 0;
      scan.skip_space();
      whole = whole && scan.number(distance, std::uint32_t{65535}) && distance >= 10;
      slit.at(row, column) = distance;
    }
    scan.skip_space();
    whole = whole && scan.at_end();
  }
  if (whole) {
    machine.node_distance = slit;
    machine.distance_source = DistanceSource::slit;
  }
}

// HMAT as far as the kernel publishes it: from each node's best initiators to that node. Where it is complete, distances
// follow from it.
void take_over_latencies(Machine& machine) {
  const std::size_t size = machine.nodes.size();
  Matrix<float> read_latency(size, 0);
  Matrix<float> write_latency(size, 0);
  Matrix<float> bandwidth(size, 0);
  bool any = false;
  for (std::size_t target = 0; target < size; ++target) {
    const NodeAccess& access = machine.nodes[target].access;
    access.initiators.for_each([&](unsigned number) {
      const int initiator = machine.node_index(number);
      if (initiator < 0) return;
      const auto row = static_cast<std::size_t>(initiator);
      read_latency.at(row, target) = static_cast<float>(access.read_latency_ns);
      write_latency.at(row, target) = static_cast<float>(access.write_latency_ns);
      bandwidth.at(row, target) = static_cast<float>(access.read_bandwidth_mbs);
      any = any || access.read_latency_ns != 0 || access.read_bandwidth_mbs != 0;
    });
  }
  if (!any) return;
  bool complete = true;  // every node with CPUs knows its way to every node with memory
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t target = 0; target < size; ++target) {
      if (machine.nodes[row].cpus.empty() || !machine.nodes[target].has_memory) continue;
      complete = complete && read_latency.at(row, target) > 0;
    }
  }
  if (complete) {
    machine.node_distance = Machine::distances_from_latencies(read_latency);
    machine.distance_source = DistanceSource::latency;
  }
  machine.read_latency_ns = std::move(read_latency);
  machine.write_latency_ns = std::move(write_latency);
  machine.bandwidth_mbs = std::move(bandwidth);
}

void read_nodes(const SystemRoot& root, Machine& machine) {
  NodeMask online;
  if (!root.read_list("/sys/devices/system/node/online", online)) online = root.numbered_entries(kNodes, "node");
  if (online.empty()) {
    add_only_node(root, machine);
    return;
  }
  NodeMask with_memory;
  root.read_list("/sys/devices/system/node/has_memory", with_memory);
  std::string text;
  std::vector<std::string> rows;
  CpuMask placed;
  online.for_each([&](unsigned number) {
    Node node;
    node.os = number;
    root.read_list(format("%s/node%u/cpulist", kNodes, number).c_str(), node.cpus);
    node.cpus &= machine.online;
    node.cpus -= placed;
    placed |= node.cpus;
    if (root.read(format("%s/node%u/meminfo", kNodes, number).c_str(), text)) {
      node.memory_bytes = memory_line(text, "MemTotal:");
    }
    node.has_memory = node.memory_bytes > 0 || with_memory.test(number);
    read_access(root, node);
    root.read_line(format("%s/node%u/distance", kNodes, number).c_str(), text);
    rows.push_back(text);
    machine.nodes.push_back(std::move(node));
  });
  read_distances(rows, machine);
  take_over_latencies(machine);
}

}  // namespace

bool share_one_cache(const SystemRoot& root, const CpuMask& cpus) {
  CacheDomain cache;
  return !cpus.empty() && read_last_level_cache(root, cpus.first(), cpus, cache) && cache.cpus == cpus;
}

Machine read_sysfs(const SystemRoot& root, const Allowance& allowance) {
  Machine machine;
  machine.source = Source::sysfs;
  machine.origin = root.is_real() ? "/sys" : root.prefix();
  machine.online = read_online(root);
  if (machine.online.empty()) {
    machine.online = allowance.cpus;  // at least these are there
    machine.origin += " tells nothing; known are only the CPUs of this process's affinity mask";
  }
  root.read_list("/sys/devices/system/cpu/present", machine.offline);
  machine.offline -= machine.online;
  read_cpus(root, machine);
  read_kinds(root, machine);
  read_nodes(root, machine);
  machine.restrict_to(allowance.cpus, read_allowed_memory(root), allowance.quota);
  return machine;
}

}  // namespace hearth::topology
