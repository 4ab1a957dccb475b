// The first stage: see allowance.h.
#include "topology/allowance.h"

#include <algorithm>
#include <cerrno>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "topology/text.h"

namespace hearth::topology {
namespace {

bool status_list(const SystemRoot& root, std::string_view key, CpuMask& out) {
  std::string text;
  if (!root.read("/proc/self/status", text)) return false;
  std::string_view left = text;
  while (!left.empty()) {
    const std::size_t end = left.find('\n');
    std::string_view line = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    if (line.substr(0, key.size()) != key) continue;
    return CpuMask::parse_list(line.substr(key.size()), out);
  }
  return false;
}

constexpr unsigned kMostNodes = 1024;  // the kernel's largest CONFIG_NODES_SHIFT; it refuses shorter masks
constexpr int kModeFlags = MPOL_MODE_FLAGS | 1 << 13;  // the last: MPOL_F_NUMA_BALANCING, Linux 5.12

}  // namespace

unsigned Allowance::default_team_size() const {
  const auto cpu_count = static_cast<unsigned>(cpus.count());
  const unsigned limit = quota.limited() ? std::min(cpu_count, quota.whole_cpus()) : cpu_count;
  return std::max(limit, 1u);
}

bool set_affinity(int kernel_id, const CpuMask& mask) {
  return sched_setaffinity(kernel_id, mask.bytes(), reinterpret_cast<const cpu_set_t*>(mask.words())) == 0;
}

bool visit(const CpuMask& cpus, const CpuMask& own) { return set_affinity(0, cpus) && set_affinity(0, own); }

CpuMask current_affinity() { return affinity_of(0); }

CpuMask affinity_of(int kernel_id) {
  // The kernel answers EINVAL while the buffer is smaller than its own mask, whose size nobody tells.
  const int saved = errno;
  CpuMask mask;
  CpuMask::Word small[16];  // 1024 CPUs: enough almost everywhere, and no allocation
  if (sched_getaffinity(kernel_id, sizeof small, reinterpret_cast<cpu_set_t*>(small)) == 0) {
    mask = CpuMask::from_words(small, sizeof small);
  } else {
    for (std::size_t words = 64; words * CpuMask::kWordBits <= CpuMask::kMaxCpu + 1; words *= 2) {
      std::vector<CpuMask::Word> large(words);
      const std::size_t bytes = words * sizeof(CpuMask::Word);
      if (sched_getaffinity(kernel_id, bytes, reinterpret_cast<cpu_set_t*>(large.data())) == 0) {
        mask = CpuMask::from_words(large.data(), bytes);
        break;
      }
      if (errno != EINVAL) break;
    }
  }
  errno = saved;
  return mask;
}

CpuMask recorded_affinity(const SystemRoot& root) {
  CpuMask mask;
  status_list(root, "Cpus_allowed_list:", mask);
  return mask;
}

NodeMask current_memory_binding() {
  const int saved = errno;
  int mode = MPOL_DEFAULT;
  NodeMask::Word nodes[kMostNodes / NodeMask::kWordBits] = {};
  const bool told = syscall(SYS_get_mempolicy, &mode, nodes, kMostNodes + 1ul, nullptr, 0) == 0;
  errno = saved;
  return told && (mode & ~kModeFlags) == MPOL_BIND ? NodeMask::from_words(nodes, sizeof nodes) : NodeMask();
}

NodeMask read_allowed_memory(const SystemRoot& root) {
  NodeMask mask;
  status_list(root, "Mems_allowed_list:", mask);
  if (!root.is_real()) return mask;
  NodeMask bound = current_memory_binding();
  if (bound.empty()) return mask;
  return mask.empty() ? bound : mask & bound;
}

Allowance read_allowance(const SystemRoot& root, CpuMask affinity) {
  Allowance allowance;
  allowance.cpus = std::move(affinity);
  if (allowance.cpus.empty()) root.read_list("/sys/devices/system/cpu/online", allowance.cpus);
  if (allowance.cpus.empty()) allowance.cpus.set(0);
  allowance.quota = read_cpu_quota(root);
  return allowance;
}

}  // namespace hearth::topology
