// ModelBuilder: a Machine put together from the few numbers of a model file. The reader (model.cpp) checks the numbers; nothing
// here can fail. One object per file, used by one thread.
#pragma once

#include <cstdint>

#include <vector>

#include "topology/machine.h"

namespace hearth::topology {

struct ModelBuilder {
  /// [structure]: how many of each level there are in one of the level above.
  struct Structure {
    std::int64_t packages = 1;
    std::int64_t nodes = 1;
    std::int64_t llcs = 1;
    std::int64_t cores = 1;
    std::int64_t threads = 1;
    bool by_core = false;  // siblings have consecutive numbers; else all first siblings come first
  };

  /// [mesh]: tiles on a grid, one core and one home cache each, latency by hops.
  struct Mesh {
    std::int64_t width = 0;
    std::int64_t height = 0;
    CpuMask reserved;  // tiles that run no threads
    double clock_mhz = 0;
    double local_cycles = 0;
    double remote_cycles = 0;
    double cycles_per_hop = 0;
  };

  /// Some cores of a node: `threads` CPUs each, sharing `llcs` caches as evenly as can be.
  struct CoreGroup {
    std::int64_t cores = 1;
    std::int64_t threads = 1;
    std::int64_t llcs = 1;
  };

  void add_structure(const Structure& structure);
  /// At least one tile must not be reserved.
  void add_mesh(const Mesh& mesh);
  /// Returns the CPUs of the group. CPU and core numbers go on from those of the group before.
  CpuMask add_core_group(const CoreGroup& group);

  static CacheDomain last_level_cache() {
    CacheDomain cache;
    cache.level = 3;
    return cache;
  }

  Machine machine;
  std::vector<std::int64_t> package_of_node;
  CacheDomain cache = last_level_cache();  // what all last-level caches are like
  double node_bytes = 0;
  std::int64_t next_cpu = 0;  // of core groups
  std::int64_t next_core = 0;

 private:
  void add_llc(const CpuMask& cpus);
  void add_core(const CpuMask& cpus, std::int64_t id);
};

}  // namespace hearth::topology
