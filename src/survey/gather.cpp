// See gather.h.
#include "survey/gather.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "survey/archive.h"
#include "topology/quota.h"

namespace hearth::survey {

using topology::CpuMask;
using topology::SystemRoot;

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

void gather_cpus(const SystemRoot& root, Gatherer& files) {
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
}

void gather_nodes(const SystemRoot& root, Gatherer& files) {
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
}

void gather_process(const SystemRoot& root, const CpuMask& affinity, Gatherer& files) {
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
}

}  // namespace

Gathered gather(const SystemRoot& root, const CpuMask& affinity, const std::string& path) {
  Gatherer files(root);
  gather_cpus(root, files);
  gather_nodes(root, files);
  gather_process(root, affinity, files);
  write_archive(path, files.files());
  Gathered gathered;
  gathered.files = files.files().size();
  std::error_code unknown;
  gathered.bytes = static_cast<std::size_t>(std::filesystem::file_size(path, unknown));
  return gathered;
}

}  // namespace hearth::survey
