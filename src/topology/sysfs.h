// The machine as the kernel describes it under /sys/devices/system/{cpu,node}.
//
// A pure function of a SystemRoot and of what this process may use. On big machines sysfs is slow (some µs
// per file, dozens of files per CPU), so each group (core, cache, package) is read once, through its first
// CPU, and believed for the others it names. Missing files are normal (virtual machines, old kernels,
// containers that hide /sys): the plainest assumption stands in, and Machine says so (level 0 caches,
// distance source "flat").
#pragma once

#include "topology/allowance.h"
#include "topology/machine.h"
#include "topology/system_root.h"

namespace hearth::topology {

/// Is one last-level cache above all these CPUs? Reads a dozen files, whatever the machine's size. False: no, or not known.
bool share_one_cache(const SystemRoot& root, const CpuMask& cpus);

Machine read_sysfs(const SystemRoot& root, const Allowance& allowance);

}  // namespace hearth::topology
