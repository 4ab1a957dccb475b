// See conditions.h.
#include "trial/conditions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth::trial {
namespace {

using topology::SystemRoot;

constexpr double kMuchSteal = 1, kMuchOthers = 5;  // percent
constexpr double kMuchLoad = 0.25;                 // of the CPUs

double seconds_of(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string word_in_brackets(const std::string& text) {
  const std::size_t begin = text.find('['), end = text.find(']');
  return begin == std::string::npos || end == std::string::npos ? "unknown" : text.substr(begin + 1, end - begin - 1);
}

std::uint64_t kib_behind(const std::string& text, const char* key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + std::string_view(key).size(), nullptr, 10);
}

bool mbind_allowed() {
  const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  constexpr int kDefault = 0;  // MPOL_DEFAULT
  const bool allowed = syscall(SYS_mbind, page, bytes, kDefault, nullptr, 0, 0) == 0;
  munmap(page, bytes);
  return allowed;
}

std::string processor_name(const SystemRoot& root) {
  std::string text;
  root.read("/proc/cpuinfo", text);
  const std::size_t at = text.find("model name");
  const std::size_t colon = at == std::string::npos ? at : text.find(": ", at);
  if (colon == std::string::npos) return "unknown";
  return harmless(text.substr(colon + 2, text.find('\n', colon) - colon - 2));
}

}  // namespace

CpuTimes cpu_times(const SystemRoot& root) {
  CpuTimes out;
  std::string line;
  root.read_line("/proc/stat", line);
  std::istringstream in(line);
  std::string name;
  in >> name;
  std::uint64_t value = 0;
  for (int i = 0; i < 8 && in >> value; ++i) {  // user nice system idle iowait irq softirq steal
    out.all += value;
    if (i != 3 && i != 4 && i != 7) out.busy += value;
    if (i == 7) out.steal = value;
  }
  rusage self{}, children{};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  out.own = (seconds_of(self) + seconds_of(children)) * static_cast<double>(sysconf(_SC_CLK_TCK));
  return out;
}

MachineFacts machine_facts(const SystemRoot& root, const topology::Machine& machine) {
  MachineFacts out;
  out.processor = processor_name(root);
  out.cpus = static_cast<int>(machine.usable.count());
  const auto used = [](const auto& all) {
    return static_cast<int>(
        std::count_if(all.begin(), all.end(), [](const auto& one) { return one.usable.count() > 0; }));
  };
  out.cores = used(machine.cores);
  out.packages = used(machine.packages);
  for (const topology::CacheDomain& cache : machine.llcs) {
    if (cache.usable.count() > 0) out.cache_bytes.push_back(cache.bytes);
  }
  std::vector<std::size_t> nodes;
  for (const topology::Location& location : machine.locations) {
    if (location.node < 0) continue;
    const auto& node = machine.nodes[static_cast<std::size_t>(location.node)];
    nodes.push_back(static_cast<std::size_t>(location.node));
    out.nodes.push_back({static_cast<int>(location.cpus.count()), node.memory_bytes});
    out.memory_bytes += node.memory_bytes;
  }
  for (const std::size_t from : nodes) {
    out.distance.emplace_back();
    for (const std::size_t to : nodes)
      out.distance.back().push_back(from < machine.node_distance.size() && to < machine.node_distance.size()
                                        ? machine.node_distance.at(from, to)
                                        : 0);
  }
  return out;
}

Conditions conditions_before(const SystemRoot& root, const topology::Machine& machine) {
  Conditions out;
  std::string line;
  if (root.read_line("/proc/loadavg", line)) out.load_before = std::max(0.0, std::strtod(line.c_str(), nullptr));
  if (root.read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line) && !line.empty())
    out.governor = harmless(line).substr(0, 64);
  if (root.read_line("/proc/sys/kernel/numa_balancing", line)) out.numa_balancing = line == "0" ? "off" : "on";
  if (root.read_line("/sys/kernel/mm/transparent_hugepage/enabled", line)) {
    const std::string word = word_in_brackets(line);
    if (word == "always" || word == "madvise" || word == "never") out.transparent_huge_pages = word;
  }
  out.cpu_quota = machine.quota.cpus();
  out.mbind = mbind_allowed();
  return out;
}

void judge(const CpuTimes& begin, const CpuTimes& end, int cpus, Conditions& conditions) {
  const double all = static_cast<double>(end.all - std::min(begin.all, end.all));
  if (all > 0) {
    const double busy = static_cast<double>(end.busy - std::min(begin.busy, end.busy));
    conditions.others_percent = std::clamp(100 * (busy - (end.own - begin.own)) / all, 0.0, 100.0);
    conditions.steal_percent = std::clamp(100 * static_cast<double>(end.steal - std::min(begin.steal, end.steal)) / all,
                                          0.0, 100.0);
  }
  auto& reasons = conditions.reasons;
  reasons.clear();
  if (conditions.load_before > kMuchLoad * cpus)
    reasons.push_back(fmt::format("the load average before was {:.1f} on {} CPUs", conditions.load_before, cpus));
  if (conditions.others_percent > kMuchOthers)
    reasons.push_back(fmt::format("other programs took {:.0f} % of the CPU time", conditions.others_percent));
  if (conditions.steal_percent > kMuchSteal)
    reasons.push_back(fmt::format("a hypervisor took {:.0f} % of the CPU time away", conditions.steal_percent));
  if (conditions.governor != "none" && conditions.governor != "performance")
    reasons.push_back(fmt::format("the frequency governor is {}, not performance", conditions.governor));
  if (conditions.cpu_quota > 0)
    reasons.push_back(fmt::format("a quota allows {:.1f} CPUs' time", conditions.cpu_quota));
  conditions.quiet = reasons.empty();
}

std::uint64_t available_memory(const SystemRoot& root) {
  std::string text;
  root.read("/proc/meminfo", text);
  std::uint64_t out = kib_behind(text, "MemAvailable:") << 10;
  std::int64_t most = 0, used = 0;
  if (root.read_number("/sys/fs/cgroup/memory.max", most) && most > 0 &&
      root.read_number("/sys/fs/cgroup/memory.current", used))
    out = std::min(out, static_cast<std::uint64_t>(std::max<std::int64_t>(0, most - used)));
  return out;
}

}  // namespace hearth::trial
