// See topo_words.h.
#include "cli/topo_words.h"

#include <iterator>

#include <fmt/format.h>

#include "cli/output.h"

namespace hearth::cli {

using topology::Machine;
using topology::Source;

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return value == static_cast<double>(static_cast<std::uint64_t>(value))
             ? fmt::format("{:.0f} {}", value, kUnits[unit])
             : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string affinity_source(const Machine& machine) {
  switch (machine.source) {
    case Source::sysfs:
      return machine.origin == "/sys" ? "the affinity mask that the kernel gave this process"
                                      : "the affinity mask in the recording";
    case Source::hwloc_xml: return "the XML file's allowed set";
    default: return "the model: everything";
  }
}

std::string memory_source(const Machine& machine) {
  if (machine.source != Source::sysfs) return "the model";
  return machine.origin == "/sys" ? "Mems_allowed of /proc/self/status, and numactl --membind"
                                  : "Mems_allowed of /proc/self/status";
}

std::string team_reason(const Machine& machine) {
  const auto cpus = static_cast<unsigned>(machine.usable.count());
  if (machine.quota.limited() && machine.quota.whole_cpus() < cpus) {
    return fmt::format("the CPU quota of {:g}, rounded up, is less than {}", machine.quota.cpus(),
                       counted(cpus, "CPU", "CPUs"));
  }
  return "one per CPU that may be used";
}

}  // namespace hearth::cli
