// How the memory of each node is used, and by which processes, as the kernel tells: for `hearth memory`. Reads and keeps
// nothing; called by one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string>
#include <vector>

#include "topology/system_root.h"

namespace hearth::survey {

struct NodeUse {
  unsigned node = 0;  // the kernel's number
  std::uint64_t total = 0;
  std::uint64_t free = 0;        // nobody uses them
  std::uint64_t file_cache = 0;  // of the used ones, dropped when they are wanted
};

struct ProcessUse {
  unsigned pid = 0;
  std::string name;
  bool on_hearth = false;            // libhearth.so is mapped
  std::vector<std::uint64_t> bytes;  // by node, in the order of NodeMemory::nodes
  std::uint64_t all = 0;
};

struct NodeMemory {
  std::vector<NodeUse> nodes;
  std::vector<ProcessUse> processes;  // with memory, the largest first; a page that several have counts for each
  std::size_t unreadable = 0;         // processes of others
};

/// `only`: these processes; empty: all that may be read.
NodeMemory read_node_memory(const topology::SystemRoot& root, const std::vector<unsigned>& only);

}  // namespace hearth::survey
