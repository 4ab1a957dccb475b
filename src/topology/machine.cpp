// Finishing a Machine: cross references, what is usable, locations. Runs once per machine, on one thread; nothing here is
// hot.
#include "topology/machine.h"

#include <algorithm>

#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr std::uint32_t kLocalDistance = 10;   // as in ACPI's SLIT
constexpr std::uint32_t kRemoteDistance = 20;  // what the kernel assumes when the firmware is silent
// From one last-level cache to what another of the same node has cached. Assumed: the memory is equally near,
// so it is the least that is more than local, and less than what firmware says of any other node.
constexpr std::uint32_t kSameNodeDistance = 11;

// Writes the index of every element of `all` to the CPUs it holds. Linear in CPUs, where a search per CPU is
// quadratic.
template <class T>
std::vector<int> holders(const std::vector<T>& all, std::size_t cpu_numbers) {
  std::vector<int> of(cpu_numbers, -1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].cpus.for_each([&](unsigned cpu) {
      if (cpu < of.size() && of[cpu] < 0) of[cpu] = static_cast<int>(i);
    });
  }
  return of;
}

template <class T>
void drop_empty(std::vector<T>& all, const CpuMask& online) {
  for (T& one : all) one.cpus &= online;
  all.erase(std::remove_if(all.begin(), all.end(), [](const T& one) { return one.cpus.empty(); }), all.end());
}

CpuMask covered(const auto& all) {
  CpuMask mask;
  for (const auto& one : all) mask |= one.cpus;
  return mask;
}

template <class T>
void sort_by_first_cpu(std::vector<T>& all) {
  std::stable_sort(all.begin(), all.end(), [](const T& a, const T& b) { return a.cpus.first() < b.cpus.first(); });
}

}  // namespace

const char* source_name(Source source) {
  switch (source) {
    case Source::sysfs: return "sysfs";
    case Source::model: return "model file";
    case Source::hwloc_xml: return "hwloc XML";
    case Source::hwloc_synthetic: return "hwloc synthetic";
  }
  return "?";
}

const char* distance_source_name(DistanceSource source) {
  switch (source) {
    case DistanceSource::flat: return "flat";
    case DistanceSource::slit: return "SLIT";
    case DistanceSource::latency: return "latencies";
    case DistanceSource::hops: return "hops";
  }
  return "?";
}

int Machine::node_index(unsigned node_os) const {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].os == node_os) return static_cast<int>(i);
  }
  return -1;
}

unsigned Machine::default_team_size() const { return Allowance{usable, quota}.default_team_size(); }

Matrix<std::uint32_t> Machine::distances_from_latencies(const Matrix<float>& latencies) {
  const std::size_t size = latencies.size();
  float smallest = 0;
  float largest = 0;
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      const float here = latencies.at(a, b);
      if (here <= 0) continue;
      if (smallest == 0 || here < smallest) smallest = here;
      largest = std::max(largest, here);
    }
  }
  Matrix<std::uint32_t> distances(size, kLocalDistance);
  if (smallest == 0) return distances;
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      const float here = latencies.at(a, b) > 0 ? latencies.at(a, b) : largest;
      distances.at(a, b) = rounded(static_cast<double>(here) * kLocalDistance / smallest);
    }
  }
  return distances;
}

struct Machine::Holders {
  std::vector<int> package;
  std::vector<int> node;
  std::vector<int> llc;
  std::vector<int> core;
  std::vector<int> kind;
};

void Machine::restrict_to(const CpuMask& allowed_cpus, const NodeMask& allowed_memory, const CpuQuota& cpu_quota) {
  quota = cpu_quota;
  if (online.empty()) online.set(0);
  usable = online & allowed_cpus;
  if (usable.empty()) usable = online;

  fill_gaps();
  fill_in_caches();
  const Holders of = sort_units();
  list_cpus(of);
  link_units(of, allowed_memory);

  // Distances between nodes: what the source said, if it fits; else flat.
  if (node_distance.size() != nodes.size()) {
    node_distance = Matrix<std::uint32_t>(nodes.size(), kRemoteDistance);
    for (std::size_t n = 0; n < nodes.size(); ++n) node_distance.at(n, n) = kLocalDistance;
    if (location_kind != LocationKind::home_cache) distance_source = DistanceSource::flat;
  }

  make_locations();
}

// What a source left out gets the plainest answer, so that every CPU has a package, a core, a kind and a node.
void Machine::fill_gaps() {
  drop_empty(packages, online);
  if (const CpuMask rest = online - covered(packages); !rest.empty())
    packages.push_back({.os = 0, .cpus = rest, .usable = {}});
  drop_empty(cores, online);
  (online - covered(cores)).for_each([&](unsigned cpu) {
    Core core;
    core.os = cpu;
    core.cpus.set(cpu);
    cores.push_back(std::move(core));
  });
  for (Node& node : nodes) node.cpus &= online;
  if (nodes.empty()) {
    Node node;
    node.cpus = online;
    node.has_memory = true;
    nodes.push_back(std::move(node));
  }
  drop_empty(kinds, online);
  if (kinds.empty()) kinds.push_back({.name = "core", .capacity = 1024, .cpus = online});
  if (const CpuMask rest = online - covered(kinds); !rest.empty())
    kinds.push_back({.name = "other", .capacity = 0, .cpus = rest});
}

// CPUs without a cache share one with the others of their package and node.
void Machine::fill_in_caches() {
  sort_by_first_cpu(packages);
  drop_empty(llcs, online);
  const CpuMask uncached = online - covered(llcs);
  for (std::size_t p = 0; p < packages.size() && !uncached.empty(); ++p) {
    CpuMask rest = packages[p].cpus & uncached;
    for (const Node& node : nodes) {
      CacheDomain domain;
      domain.cpus = node.cpus & rest;
      if (domain.cpus.empty()) continue;
      rest -= domain.cpus;
      llcs.push_back(std::move(domain));
    }
    if (!rest.empty()) {
      CacheDomain domain;
      domain.cpus = rest;
      llcs.push_back(std::move(domain));
    }
  }
}

// A stable order that follows the machine: by package, node, cache, smallest CPU.
Machine::Holders Machine::sort_units() {
  const std::size_t numbers = online.last() + 1;
  Holders of;
  of.package = holders(packages, numbers);
  of.node = holders(nodes, numbers);
  of.kind = holders(kinds, numbers);
  // home_latency_ns is indexed by llc, so home caches come sorted from their source.
  if (home_latency_ns.empty()) {
    std::stable_sort(llcs.begin(), llcs.end(), [&](const CacheDomain& a, const CacheDomain& b) {
      const unsigned x = a.cpus.first();
      const unsigned y = b.cpus.first();
      if (of.package[x] != of.package[y]) return of.package[x] < of.package[y];
      if (of.node[x] != of.node[y]) return of.node[x] < of.node[y];
      return x < y;
    });
  }
  of.llc = holders(llcs, numbers);
  std::stable_sort(cores.begin(), cores.end(), [&](const Core& a, const Core& b) {
    const unsigned x = a.cpus.first();
    const unsigned y = b.cpus.first();
    if (of.package[x] != of.package[y]) return of.package[x] < of.package[y];
    if (of.node[x] != of.node[y]) return of.node[x] < of.node[y];
    if (of.llc[x] != of.llc[y]) return of.llc[x] < of.llc[y];
    return x < y;
  });
  of.core = holders(cores, numbers);
  return of;
}

void Machine::list_cpus(const Holders& of) {
  cpus.clear();
  cpu_index_.assign(of.core.size(), -1);
  online.for_each([&](unsigned cpu) {
    Cpu one;
    one.os = cpu;
    one.usable = usable.test(cpu);
    one.core = of.core[cpu];
    one.llc = of.llc[cpu];
    one.node = of.node[cpu];
    one.package = of.package[cpu];
    one.kind = std::max(of.kind[cpu], 0);
    for (unsigned sibling = cores[static_cast<std::size_t>(one.core)].cpus.first(); sibling < cpu;
         sibling = cores[static_cast<std::size_t>(one.core)].cpus.next(sibling)) {
      ++one.smt_rank;
    }
    cpu_index_[cpu] = static_cast<int>(cpus.size());
    cpus.push_back(one);
  });
}

// What each unit belongs to, and what of it may be used.
void Machine::link_units(const Holders& of, const NodeMask& allowed_memory) {
  for (Package& package : packages) package.usable = package.cpus & usable;
  for (Core& core : cores) {
    core.usable = core.cpus & usable;
    const unsigned cpu = core.cpus.first();
    core.package = of.package[cpu];
    core.llc = of.llc[cpu];
    core.node = of.node[cpu];
    core.kind = std::max(of.kind[cpu], 0);
  }
  for (CacheDomain& llc : llcs) {
    llc.usable = llc.cpus & usable;
    llc.package = of.package[llc.cpus.first()];
    llc.nodes.clear();
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].cpus.intersects(llc.cpus)) llc.nodes.push_back(static_cast<int>(n));
    }
  }
  memory_nodes = {};
  for (Node& node : nodes) {
    node.usable = node.cpus & usable;
    node.package = -1;
    for (std::size_t p = 0; p < packages.size(); ++p) {
      if (!node.cpus.empty() && packages[p].cpus.contains(node.cpus)) node.package = static_cast<int>(p);
    }
    node.memory_allowed = node.has_memory && (allowed_memory.empty() || allowed_memory.test(node.os));
    if (node.memory_allowed) memory_nodes.set(node.os);
  }
}

void Machine::use_locations(LocationKind kind) {
  if (location_kind == LocationKind::home_cache || location_kind == kind) return;
  location_kind = kind;
  make_locations();
}

void Machine::make_locations() {
  locations.clear();
  const auto add = [this](LocationKind kind, int node, int llc, const CpuMask& where) -> Location& {
    Location location;
    location.kind = kind;
    location.node = node;
    location.llc = llc;
    location.cpus = where;
    locations.push_back(std::move(location));
    return locations.back();
  };
  if (location_kind == LocationKind::home_cache) {
    for (std::size_t i = 0; i < llcs.size(); ++i) {
      if (llcs[i].usable.empty()) continue;
      const int node = llcs[i].nodes.empty() ? -1 : llcs[i].nodes.front();
      add(LocationKind::home_cache, node, static_cast<int>(i), llcs[i].usable).holds_memory = true;
    }
  } else {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].usable.empty() && !nodes[n].memory_allowed) continue;
      const std::size_t first = locations.size();
      if (location_kind == LocationKind::node || nodes[n].usable.empty()) {
        add(LocationKind::node, static_cast<int>(n), -1, nodes[n].usable);
      } else {
        for (std::size_t i = 0; i < llcs.size(); ++i)
          if (const CpuMask here = llcs[i].usable & nodes[n].usable; !here.empty())
            add(LocationKind::llc, static_cast<int>(n), static_cast<int>(i), here);
      }
      for (std::size_t i = first; i < locations.size(); ++i) {
        locations[i].holds_memory = nodes[n].memory_allowed;
        locations[i].memory_bytes = nodes[n].memory_bytes / (locations.size() - first);
      }
    }
  }
  cpu_location_.assign(cpu_index_.size(), -1);
  for (std::size_t i = 0; i < locations.size(); ++i) {
    locations[i].cpus.for_each([&](unsigned cpu) { cpu_location_[cpu] = static_cast<int>(i); });
  }
  location_distance = Matrix<std::uint32_t>(locations.size(), kLocalDistance);
  const Matrix<std::uint32_t> homes = home_latency_ns.empty() ? Matrix<std::uint32_t>()
                                                              : distances_from_latencies(home_latency_ns);
  for (std::size_t a = 0; a < locations.size(); ++a) {
    for (std::size_t b = 0; b < locations.size(); ++b) {
      const auto from_llc = static_cast<std::size_t>(locations[a].llc);
      const auto to_llc = static_cast<std::size_t>(locations[b].llc);
      const auto from_node = static_cast<std::size_t>(locations[a].node);
      const auto to_node = static_cast<std::size_t>(locations[b].node);
      if (location_kind == LocationKind::home_cache) {
        location_distance.at(a, b) = homes.empty() ? (a == b ? kLocalDistance : kRemoteDistance)
                                                   : homes.at(from_llc, to_llc);
      } else {
        location_distance.at(a, b) = from_node == to_node && a != b ? kSameNodeDistance
                                                                    : node_distance.at(from_node, to_node);
      }
    }
  }
}

std::string Machine::inconsistency() const {
  if (usable.empty() || !online.contains(usable)) return "usable CPUs are none, or not all online";
  if (cpus.size() != online.count()) return "cpus does not list the online CPUs";
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i].os <= nodes[i - 1].os) return "node numbers do not rise";
  }
  for (const Cpu& cpu : cpus) {
    const auto at = [](int index) { return static_cast<std::size_t>(index); };
    if (cpu_index(cpu.os) < 0 || &cpus[at(cpu_index(cpu.os))] != &cpu) return format("cpu_index(%u) is wrong", cpu.os);
    if (cpu.core < 0 || !cores[at(cpu.core)].cpus.test(cpu.os)) return format("CPU %u is on no core", cpu.os);
    if (cpu.llc < 0 || !llcs[at(cpu.llc)].cpus.test(cpu.os)) return format("CPU %u has no cache domain", cpu.os);
    if (cpu.package < 0 || !packages[at(cpu.package)].cpus.test(cpu.os))
      return format("CPU %u is in no package", cpu.os);
    if (cpu.node >= 0 && !nodes[at(cpu.node)].cpus.test(cpu.os)) return format("CPU %u: wrong node", cpu.os);
    if (!kinds[at(cpu.kind)].cpus.test(cpu.os)) return format("CPU %u: wrong kind", cpu.os);
  }
  const auto disjoint = [](const auto& all, const char* what) {
    CpuMask seen;
    for (const auto& one : all) {
      if (seen.intersects(one.cpus)) return format("two %s share a CPU of %s", what, one.cpus.list().c_str());
      seen |= one.cpus;
    }
    return std::string();
  };
  for (const std::string& clash :
       {disjoint(cores, "cores"), disjoint(llcs, "cache domains"), disjoint(packages, "packages"),
        disjoint(nodes, "nodes"), disjoint(kinds, "core kinds")}) {
    if (!clash.empty()) return clash;
  }
  if (node_distance.size() != nodes.size()) return "the distance table does not fit the nodes";
  if (location_distance.size() != locations.size()) return "the distance table does not fit the locations";
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = 0; b < nodes.size(); ++b) {
      if (node_distance.at(a, b) < kLocalDistance) return "a distance below 10";
    }
  }
  if (default_team_size() < 1) return "a team of nobody";
  return {};
}

std::vector<unsigned> cpus_in_machine_order(const Machine& machine, const CpuMask& which) {
  std::vector<unsigned> order;
  for (const Core& core : machine.cores) {
    core.cpus.for_each([&](unsigned cpu) {
      if (which.test(cpu)) order.push_back(cpu);
    });
  }
  return order;
}

}  // namespace hearth::topology
