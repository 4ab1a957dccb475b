// Allowance: what this process may use, the cheap first stage. Two small reads and one system call: the
// runtime does this at start-up, and nothing else of this room unless places, locations or distances are
// asked for.
//
// A value. The process-wide one is allowance() in current.h.
#pragma once

#include "topology/cpu_mask.h"
#include "topology/quota.h"
#include "topology/system_root.h"

namespace hearth::topology {

struct Allowance {
  CpuMask cpus;    // usable CPUs: affinity mask (which the kernel already cut to the cpuset). Never empty
  CpuQuota quota;  // CPU time

  /// min(usable CPUs, ⌈quota⌉), at least 1.
  unsigned default_team_size() const;
};

/// This thread's affinity mask, asked of the kernel, whatever its size. Empty only if the kernel refuses to
/// tell.
CpuMask current_affinity();
/// The same of another thread of this process; 0: the caller.
CpuMask affinity_of(int kernel_id);
/// Narrows or widens the mask of a thread of this process; 0: the caller. False, with errno, when the kernel refuses.
bool set_affinity(int kernel_id, const CpuMask& mask);
/// The kernel moves the calling thread to one of `cpus`, which it is free to leave: its mask is `own`, as before, when this
/// returns. False, with errno, when the kernel refuses.
bool visit(const CpuMask& cpus, const CpuMask& own);

/// The affinity mask that /proc/self/status tells (Cpus_allowed_list): for recorded trees.
CpuMask recorded_affinity(const SystemRoot& root);

/// The nodes to which the calling thread's policy binds its memory, as numactl --membind and Slurm's
/// --mem-bind leave it to a program and all its threads. Empty when it binds to none, or when the kernel
/// refuses to tell.
NodeMask current_memory_binding();

/// NUMA nodes this process may take memory from: Mems_allowed_list of /proc/self/status and, where `root` is
/// this very system, the memory binding, which is no limit of the kernel's for memory with a policy of its
/// own, but what the user asked for. Empty when the kernel does not say.
NodeMask read_allowed_memory(const SystemRoot& root);

/// `affinity` is what sched_getaffinity() said for this process; an empty one (refused, or a sandbox that
/// hides it) becomes the CPUs that are online, or CPU 0 when not even they are told.
Allowance read_allowance(const SystemRoot& root, CpuMask affinity);

}  // namespace hearth::topology
