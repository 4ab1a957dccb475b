// See model_builder.h.
#include "topology/model_builder.h"

#include <cstdlib>

#include <utility>

namespace hearth::topology {

void ModelBuilder::add_llc(const CpuMask& cpus) {
  CacheDomain llc = cache;
  llc.cpus = cpus;
  machine.llcs.push_back(std::move(llc));
}

void ModelBuilder::add_core(const CpuMask& cpus, std::int64_t id) {
  Core core;
  core.os = static_cast<unsigned>(id);
  core.cpus = cpus;
  machine.cores.push_back(core);
  machine.online |= cpus;
}

CpuMask ModelBuilder::add_core_group(const CoreGroup& group) {
  std::vector<CpuMask> members;
  CpuMask all;
  for (std::int64_t c = 0; c < group.cores; ++c) {
    CpuMask cpus;
    for (std::int64_t t = 0; t < group.threads; ++t) cpus.set(static_cast<unsigned>(next_cpu++));
    add_core(cpus, next_core++);
    all |= cpus;
    members.push_back(std::move(cpus));
  }
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < group.llcs; ++i) {
    CpuMask cpus;
    const std::int64_t here = group.cores / group.llcs + (i < group.cores % group.llcs ? 1 : 0);
    for (std::int64_t c = 0; c < here; ++c, ++next) cpus |= members[static_cast<std::size_t>(next)];
    if (!cpus.empty()) add_llc(cpus);
  }
  return all;
}

void ModelBuilder::add_structure(const Structure& structure) {
  const auto [packages, nodes, llcs, cores, threads, by_core] = structure;
  const std::int64_t all_cores = packages * nodes * llcs * cores;
  const auto cpus_of_core = [&, threads = threads, by_core = by_core](std::int64_t core) {
    CpuMask cpus;
    for (std::int64_t t = 0; t < threads; ++t) {
      cpus.set(static_cast<unsigned>(by_core ? core * threads + t : t * all_cores + core));
    }
    return cpus;
  };
  std::int64_t core = 0;
  for (std::int64_t p = 0; p < packages; ++p) {
    Package package;
    package.os = static_cast<unsigned>(p);
    for (std::int64_t n = 0; n < nodes; ++n) {
      Node node;
      node.os = static_cast<unsigned>(p * nodes + n);
      node.has_memory = true;
      node.memory_bytes = static_cast<std::uint64_t>(node_bytes);
      for (std::int64_t l = 0; l < llcs; ++l) {
        CpuMask shared;
        for (std::int64_t c = 0; c < cores; ++c, ++core) {
          add_core(cpus_of_core(core), core - p * nodes * llcs * cores);
          shared |= cpus_of_core(core);
        }
        add_llc(shared);
        node.cpus |= shared;
      }
      package.cpus |= node.cpus;
      machine.nodes.push_back(std::move(node));
      package_of_node.push_back(p);
    }
    machine.packages.push_back(std::move(package));
  }
}

void ModelBuilder::add_mesh(const Mesh& mesh) {
  Package package;
  Node node;
  node.has_memory = true;
  node.memory_bytes = static_cast<std::uint64_t>(node_bytes);
  std::vector<std::int64_t> tiles;
  for (std::int64_t tile = 0; tile < mesh.width * mesh.height; ++tile) {
    if (mesh.reserved.test(static_cast<unsigned>(tile))) continue;
    const CpuMask cpu{static_cast<unsigned>(tile)};
    add_core(cpu, tile);
    add_llc(cpu);
    node.cpus |= cpu;
    tiles.push_back(tile);
  }
  package.cpus = node.cpus;
  machine.packages.push_back(std::move(package));
  machine.nodes.push_back(std::move(node));
  package_of_node.push_back(0);
  machine.location_kind = LocationKind::home_cache;
  machine.mesh_width = static_cast<unsigned>(mesh.width);
  machine.mesh_height = static_cast<unsigned>(mesh.height);
  machine.home_latency_ns = Matrix<float>(tiles.size(), 0);
  const double ns_per_cycle = 1000 / mesh.clock_mhz;
  for (std::size_t a = 0; a < tiles.size(); ++a) {
    for (std::size_t b = 0; b < tiles.size(); ++b) {
      const std::int64_t hops = std::abs(tiles[a] % mesh.width - tiles[b] % mesh.width) +
                                std::abs(tiles[a] / mesh.width - tiles[b] / mesh.width);
      const double cycles = a == b ? mesh.local_cycles
                                   : mesh.remote_cycles + mesh.cycles_per_hop * static_cast<double>(hops);
      machine.home_latency_ns.at(a, b) = static_cast<float>(cycles * ns_per_cycle);
    }
  }
  machine.distance_source = DistanceSource::hops;
}

}  // namespace hearth::topology
