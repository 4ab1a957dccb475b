// See target.h.
#include "mappers/target.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include "topology/levels.h"

namespace hearth::mappers {
namespace {

constexpr const char* kLevelNames[] = {"package", "node", "llc", "core", "thread"};
static_assert(std::size(kLevelNames) == topology::level_count);

/// What a core of the kind is worth, beside the fastest.
double capacity_of(const topology::Machine& machine, int kind) {
  unsigned most = 0;
  for (const topology::CoreKind& one : machine.kinds) most = std::max(most, one.capacity);
  const unsigned own = kind >= 0 && kind < static_cast<int>(machine.kinds.size())
                           ? machine.kinds[static_cast<std::size_t>(kind)].capacity
                           : 0;
  return own == 0 || most == 0 ? 1 : static_cast<double>(own) / most;
}

}  // namespace

Target::Target(const topology::Machine& machine, LeafUnit unit) {
  const std::vector<topology::Placed> cpus = placed_cpus(machine, machine.usable);
  std::vector<topology::Placed::Path> paths;
  for (const topology::Placed& cpu : cpus) {
    const topology::Cpu& facts = machine.cpus[static_cast<std::size_t>(machine.cpu_index(cpu.cpu))];
    const bool same_core = !paths.empty() && paths.back()[topology::core_level] == cpu.global[topology::core_level];
    if (unit == LeafUnit::core && same_core) {
      leaves_.back().cpus.set(cpu.cpu);
      continue;
    }
    paths.push_back(cpu.global);
    leaves_.push_back({topology::CpuMask{cpu.cpu}, capacity_of(machine, facts.kind), facts.node, {}});
  }
  for (const Leaf& leaf : leaves_) alike_ = alike_ && leaf.capacity == leaves_[0].capacity;
  const std::size_t last = unit == LeafUnit::core ? topology::core_level : topology::thread_level;
  std::size_t down_to_node = 0;
  for (std::size_t level = 0; level <= last; ++level) {
    std::vector<int> unit_of_leaf;
    for (const topology::Placed::Path& path : paths) unit_of_leaf.push_back(path[level]);
    keep_level(kLevelNames[level], unit_of_leaf, level == last);
    if (level == topology::node_level) down_to_node = levels_.size();
  }
  node_height_ = static_cast<std::uint32_t>(levels_.size() - down_to_node);
  rank_nodes(machine);
  if (machine.location_kind == topology::LocationKind::home_cache) mesh_width_ = machine.mesh_width;
}

void Target::keep_level(const std::string& name, const std::vector<int>& unit_of_leaf, bool is_last) {
  // A unit is inside one of the level above, whatever the machine says: caches may span nodes.
  std::vector<std::uint32_t> number(leaves_.size(), 0);
  std::uint32_t units = 0;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const bool fresh = i == 0 || unit_of_leaf[i] != unit_of_leaf[i - 1] || leaves_[i].path != leaves_[i - 1].path;
    units += fresh ? 1 : 0;
    number[i] = units - 1;
  }
  const std::uint32_t above = levels_.empty() ? 1 : levels_.back().units;
  if (units == above && !is_last) return;
  if (units == above && !levels_.empty()) {
    levels_.back().name = name;  // the level above has nothing but leaves
    return;
  }
  std::vector<std::uint32_t> parts(above, 0);
  for (std::size_t i = 0; i < leaves_.size(); ++i)
    if (i == 0 || number[i] != number[i - 1]) ++parts[leaves_[i].path.empty() ? 0 : leaves_[i].path.back()];
  for (std::size_t i = 0; i < leaves_.size(); ++i) leaves_[i].path.push_back(number[i]);
  const bool even = std::all_of(parts.begin(), parts.end(), [&](std::uint32_t count) { return count == parts[0]; });
  levels_.push_back({name, units, even ? parts[0] : 0});
}

void Target::rank_nodes(const topology::Machine& machine) {
  const std::size_t nodes = machine.node_distance.size();
  rank_ = topology::Matrix<std::uint32_t>(nodes, 0);
  std::set<std::uint32_t> distances;
  const auto distance = [&](std::size_t a, std::size_t b) {
    return std::min(machine.node_distance.at(a, b), machine.node_distance.at(b, a));
  };
  for (std::size_t a = 0; a < nodes; ++a)
    for (std::size_t b = 0; b < a; ++b) distances.insert(distance(a, b));
  for (std::size_t a = 0; a < nodes; ++a)
    for (std::size_t b = 0; b < nodes; ++b)
      if (a != b)
        rank_.at(a, b) = static_cast<std::uint32_t>(std::distance(distances.begin(), distances.find(distance(a, b)))) +
                         1;
}

bool Target::regular() const {
  return std::all_of(levels_.begin(), levels_.end(), [](const Level& level) { return level.arity != 0; });
}

bool Target::plain_tree() const {
  if (mesh_width_ != 0) return false;
  for (LeafIndex a = 0; a < size(); ++a)
    for (LeafIndex b = 0; b < a; ++b) {
      std::size_t common = 0;
      while (common + 1 < levels_.size() && leaves_[a].path[common] == leaves_[b].path[common]) ++common;
      if (hops(a, b) != levels_.size() - common) return false;
    }
  return true;
}

std::uint32_t Target::hops(LeafIndex a, LeafIndex b) const {
  if (a == b) return 0;
  const Leaf &one = leaves_[a], &other = leaves_[b];
  if (mesh_width_ != 0) {
    const auto x = [&](const Leaf& leaf) { return static_cast<int>(leaf.cpus.first() % mesh_width_); };
    const auto y = [&](const Leaf& leaf) { return static_cast<int>(leaf.cpus.first() / mesh_width_); };
    return static_cast<std::uint32_t>(std::abs(x(one) - x(other)) + std::abs(y(one) - y(other)));
  }
  std::size_t common = 0;
  while (common + 1 < one.path.size() && one.path[common] == other.path[common]) ++common;
  const auto height = static_cast<std::uint32_t>(one.path.size() - common);
  if (one.node == other.node || one.node < 0 || other.node < 0) return height;
  const std::uint32_t rank = rank_.at(static_cast<std::size_t>(one.node), static_cast<std::size_t>(other.node));
  return std::max(height, node_height_ + rank);
}

std::uint32_t Target::longest() const {
  std::uint32_t most = 0;
  for (LeafIndex a = 0; a < size(); ++a)
    for (LeafIndex b = 0; b < a; ++b) most = std::max(most, hops(a, b));
  return most;
}

}  // namespace hearth::mappers
