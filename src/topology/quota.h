// The CPU time that the cgroups around this process allow: cgroup v1 (cpu.cfs_quota_us, cpu.cfs_period_us)
// and v2 (cpu.max), both at once on hybrid systems, every group from the process's own up to the root that is
// visible; the tightest wins.
//
// Pure functions of a SystemRoot. Where a group's files are is worked out from /proc/self/cgroup and
// /proc/self/mountinfo:
//   - the path in /proc/self/cgroup counts from the root of the hierarchy (or of the cgroup namespace);
//   - a mount shows the subtree that mountinfo names as its root, so that root is cut off the path first;
//   - a path outside what is mounted ("/../..", or another subtree: a container without a cgroup namespace
//   whose own group
//     is bind-mounted) means that the mount point itself is the nearest group that can be seen.
// Groups above a namespace's root cannot be read by anybody inside it; their limits stay unknown.
#pragma once

#include <cstdint>

#include <string>
#include <string_view>
#include <vector>

#include "topology/system_root.h"

namespace hearth::topology {

struct CpuQuota {
  std::int64_t quota_us = 0;  // 0: no limit
  std::int64_t period_us = 0;
  std::string file;  // where the tightest limit stands

  bool limited() const { return quota_us > 0; }
  double cpus() const {
    return limited() ? static_cast<double>(quota_us) / static_cast<double>(period_us) : 0;
  }
  /// ⌈quota / period⌉; 0 without a limit.
  unsigned whole_cpus() const;
};

CpuQuota read_cpu_quota(const SystemRoot& root);

/// Every folder whose limit counts for this process, own group first. What `hearth topo --gather` has to
/// record.
std::vector<std::string> cpu_cgroup_folders(const SystemRoot& root);

}  // namespace hearth::topology
