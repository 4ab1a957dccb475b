// What this machine is, and how quiet it was while it was measured. No host name, no path, no serial number is read. One
// thread.
#pragma once

#include <cstdint>

#include "topology/machine.h"
#include "topology/system_root.h"
#include "trial/result.h"

namespace hearth::trial {

/// CPU time by the kernel's count, in clock ticks; `own` that of this process and of those it has waited for.
struct CpuTimes {
  std::uint64_t all = 0, busy = 0, steal = 0;
  double own = 0;
};
CpuTimes cpu_times(const topology::SystemRoot& root);

MachineFacts machine_facts(const topology::SystemRoot& root, const topology::Machine& machine);
/// What is known before; judge() tells of the time between.
Conditions conditions_before(const topology::SystemRoot& root, const topology::Machine& machine);
/// Fills in the shares and rates how quiet it was. Pure.
void judge(const CpuTimes& begin, const CpuTimes& end, int cpus, Conditions& conditions);

/// Bytes that may be taken without pushing anybody out, by the kernel's estimate and the cgroup's limit.
std::uint64_t available_memory(const topology::SystemRoot& root);

}  // namespace hearth::trial
