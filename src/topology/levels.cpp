// See levels.h.
#include "topology/levels.h"

namespace hearth::topology {

std::vector<Placed> placed_cpus(const Machine& machine, const CpuMask& which) {
  std::vector<Placed> all;
  for (unsigned cpu : cpus_in_machine_order(machine, which)) {
    const Cpu& facts = machine.cpus[static_cast<std::size_t>(machine.cpu_index(cpu))];
    Placed one;
    one.cpu = cpu;
    one.global = {facts.package, facts.node, facts.llc, facts.core, static_cast<int>(cpu)};
    all.push_back(one);
  }
  // Machine order keeps the members of a unit together, so a counter per level does: it goes up when its own
  // unit changes, and back to 0 when a unit around it does.
  Placed::Path count{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool fresh = false;
    for (std::size_t level = 0; i > 0 && level < level_count; ++level) {
      if (fresh) {
        count[level] = 0;
      } else if (all[i].global[level] != all[i - 1].global[level]) {
        ++count[level];
        fresh = true;
      }
    }
    all[i].local = count;
  }
  return all;
}

std::vector<std::size_t> live_levels(const std::vector<Placed>& all) {
  std::vector<std::size_t> levels;
  for (std::size_t level = 0; level < level_count; ++level) {
    bool live = level == package_level || level == core_level || level == thread_level;
    for (const Placed& one : all) live = live || one.local[level] > 0;
    if (live) levels.push_back(level);
  }
  return levels;
}

CpuMask unit_of(const Machine& machine, unsigned cpu, Level level) {
  const Cpu& facts = machine.cpus[static_cast<std::size_t>(machine.cpu_index(cpu))];
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  switch (level) {
    case package_level: return machine.packages[at(facts.package)].usable;
    case node_level: return facts.node >= 0 ? machine.nodes[at(facts.node)].usable : CpuMask{cpu};
    case llc_level: return machine.llcs[at(facts.llc)].usable;
    case core_level: return machine.cores[at(facts.core)].usable;
    default: return CpuMask{cpu};
  }
}

}  // namespace hearth::topology
