// Target: a machine as mappers see it: leaves, on which threads run, in a tree of units. A leaf is a core with all its
// hardware threads, or one hardware thread; only what the process may use is there.
//
// Made once from a Machine, never changed afterwards.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string>
#include <vector>

#include "topology/cpu_mask.h"
#include "topology/machine.h"

namespace hearth::mappers {

using LeafIndex = std::uint32_t;

enum class LeafUnit : std::uint8_t { core, hardware_thread };

struct Leaf {
  topology::CpuMask cpus;
  double capacity = 1;              // relative to the fastest: 0 to 1
  int node = 0;                     // index into Machine::nodes
  std::vector<std::uint32_t> path;  // the unit that holds it, by level; the last is its own number
};

struct Level {
  std::string name;         // "package", "node", "llc", "core", "thread"
  std::uint32_t units = 0;  // of this level, in the whole machine
  std::uint32_t arity = 0;  // units of this level in each unit of the level above; 0: not everywhere the same
};

class Target {
 public:
  Target(const topology::Machine& machine, LeafUnit unit);

  const std::vector<Leaf>& leaves() const { return leaves_; }
  std::size_t size() const { return leaves_.size(); }
  /// Outermost first; the last are the leaves. Levels that divide nothing are left out.
  const std::vector<Level>& levels() const { return levels_; }
  /// Every unit of a level has as many parts as every other.
  bool regular() const;
  /// hops() is a matter of the tree alone, not of which nodes two leaves are on.
  bool plain_tree() const;
  /// All cores are equally fast.
  bool alike() const { return alike_; }
  /// 0: the same leaf; inside a NUMA node the number of levels up to the unit that holds both; between nodes the
  /// levels of a node and the rank of their distance, or the levels of the package that holds both if that is more.
  /// On a mesh: steps.
  std::uint32_t hops(LeafIndex a, LeafIndex b) const;
  /// Between the leaves farthest from each other.
  std::uint32_t longest() const;
  std::string name_of(LeafIndex leaf) const { return leaves_[leaf].cpus.list(); }

 private:
  void add_leaves(const topology::Machine& machine, LeafUnit unit);
  void keep_level(const std::string& name, const std::vector<int>& unit_of_leaf, bool is_last);
  void rank_nodes(const topology::Machine& machine);

  std::vector<Leaf> leaves_;
  std::vector<Level> levels_;
  bool alike_ = true;
  std::uint32_t node_height_ = 0;         // levels inside a NUMA node
  topology::Matrix<std::uint32_t> rank_;  // of nodes' distances: 0 at home
  std::uint32_t mesh_width_ = 0;          // 0: no mesh
};

}  // namespace hearth::mappers
