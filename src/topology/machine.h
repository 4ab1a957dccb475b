// Machine: what the program runs on, as a value. Everything that decides anything about places takes one of
// these as an argument, so every decision can be tried on a machine that is not here.
//
// Made by a source (sysfs.h, model.h, hwloc_source.h), which fills in what the hardware is, and finished by
// restrict_to(), which records what this process may use of it and works out the cross references. Never
// changed afterwards, so any thread may read it; the process-wide one is machine() in current.h.
//
// Two kinds of numbers: the kernel's (CpuMask members, every `os` field; they may have holes), and indices
// into the vectors below (dense, from 0; -1 means none). Names ending in `os` are the former, all other
// integers the latter.
#pragma once

#include <cstdint>

#include <string>
#include <vector>

#include "topology/allowance.h"
#include "topology/cpu_mask.h"

namespace hearth::topology {

/// A square table, row by row.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t size, T fill) : size_(size), cells_(size * size, fill) {}
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& at(std::size_t row, std::size_t column) { return cells_[row * size_ + column]; }
  const T& at(std::size_t row, std::size_t column) const { return cells_[row * size_ + column]; }
  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  std::size_t size_ = 0;
  std::vector<T> cells_;
};

/// To the nearest whole number; for values from 0 up. lround() would make the library need libm.
inline std::uint32_t rounded(double value) {
  const auto whole = static_cast<std::uint32_t>(value);
  return value - whole >= 0.5 ? whole + 1 : whole;
}

/// Where the facts come from.
enum class Source : std::uint8_t { sysfs, model, hwloc_xml, hwloc_synthetic };
const char* source_name(Source source);

/// Where a machine's distances come from.
enum class DistanceSource : std::uint8_t {
  flat,     // one location, or nobody says anything: 10 here, 20 elsewhere
  slit,     // the firmware's table (ACPI SLIT), relative, 10 is local
  latency,  // latencies of a model, scaled so that the nearest is 10
  hops,     // a mesh of home caches: from its latencies by hops, scaled likewise
};
const char* distance_source_name(DistanceSource source);

struct Package {
  unsigned os = 0;  // physical_package_id; sources without one count from 0
  CpuMask cpus;
  CpuMask usable;
};

/// One last-level cache: the largest cache that a CPU has above it. Size and sharers are per domain; machines
/// with several kinds of cores have several kinds of domains.
struct CacheDomain {
  CpuMask cpus;
  CpuMask usable;
  std::uint64_t bytes = 0;  // 0: unknown
  unsigned
      level = 0;  // mostly 3, or 2 on small cores; 0: no cache is described, the domain is the package's part of a node
  unsigned line_bytes = 0;      // 0: unknown
  std::uint64_t l1d_bytes = 0;  // the first-level data cache of its first core; 0: unknown
  int package = -1;
  std::vector<int> nodes;  // more than one where a cache spans nodes (sub-NUMA clustering as the kernel describes it)

  /// CPUs that share it, whether we may use them or not. (They compete for it in any case.)
  unsigned sharers() const { return static_cast<unsigned>(cpus.count()); }
};

struct Core {
  unsigned os = 0;  // core_id; unique only within a package
  CpuMask cpus;     // SMT siblings
  CpuMask usable;
  int package = -1;
  int llc = -1;
  int node = -1;
  int kind = 0;
};

/// Cores that are alike. Rising capacity; one kind on most machines.
struct CoreKind {
  std::string name;          // "core" when all are alike, else "efficiency", "performance", and what stands between
  unsigned capacity = 1024;  // relative, the fastest kind has 1024; 0: unknown
  CpuMask cpus;
};

/// What the firmware's HMAT says of the way from a node's nearest processors to its memory. 0: unknown.
struct NodeAccess {
  std::uint32_t read_latency_ns = 0;
  std::uint32_t write_latency_ns = 0;
  std::uint32_t read_bandwidth_mbs = 0;
  std::uint32_t write_bandwidth_mbs = 0;
  NodeMask initiators;  // kernel numbers of those processors' nodes
};

struct Node {
  unsigned os = 0;
  CpuMask cpus;  // none: CPU-less (CXL memory, HBM in flat mode)
  CpuMask usable;
  bool has_memory = false;
  std::uint64_t memory_bytes = 0;  // 0: memory-less, or nobody says how much (models)
  bool memory_allowed = false;     // we may take memory from it (Mems_allowed), and it has some
  int package = -1;                // -1: spans packages, or has no CPUs
  NodeAccess access;
};

struct Cpu {
  unsigned os = 0;
  bool usable = false;
  int core = -1;
  int llc = -1;
  int node = -1;  // -1 on a CPU that no node names
  int package = -1;
  int kind = 0;
  int smt_rank = 0;  // how many siblings on its core have a smaller number
};

enum class LocationKind : std::uint8_t { node, llc, home_cache };

/// The thing data can live near: a NUMA node, a last-level cache, or a home cache of a manycore. Only what we
/// may use is a location: a node with a usable CPU, or whose memory we may take. Nodes hidden by a cpuset or
/// a cgroup are in `nodes`, not here.
struct Location {
  LocationKind kind = LocationKind::node;
  int node = -1;
  int llc = -1;  // the cache that it is; nodes: -1
  CpuMask cpus;  // usable ones; may be empty (memory only)
  bool holds_memory = false;
  std::uint64_t memory_bytes = 0;
};

struct Machine {
  std::string name;  // of a model; else empty
  Source source = Source::sysfs;
  std::string origin;  // file, synthetic string, or "/sys"
  /// Not the machine we run on: the kernel knows neither its CPUs nor its nodes, so nothing may be bound to
  /// them.
  bool pretended = false;

  CpuMask online;         // all CPUs that are there and on
  CpuMask offline;        // there, but switched off
  CpuMask usable;         // of `online`, what this process may run on. Never empty
  NodeMask memory_nodes;  // kernel numbers of nodes whose memory this process may take
  CpuQuota quota;

  std::vector<Package> packages;
  std::vector<Node> nodes;  // rising kernel number, holes left out
  std::vector<CacheDomain> llcs;
  std::vector<Core> cores;
  std::vector<CoreKind> kinds;
  std::vector<Cpu> cpus;  // online ones, rising kernel number
  LocationKind location_kind = LocationKind::node;
  /// By nodes, rising. Where they are last-level caches, a node's stand together; a cache that spans nodes is
  /// a location in each, and a node without usable CPUs is one by itself.
  std::vector<Location> locations;
  /// Home caches on a mesh: the tiles, whose numbers are those of their CPUs, row by row. 0: no mesh.
  unsigned mesh_width = 0;
  unsigned mesh_height = 0;

  DistanceSource distance_source = DistanceSource::flat;
  /// Between nodes, relative: 10 is local.
  Matrix<std::uint32_t> node_distance;
  /// Between locations, same unit. The row is who computes, the column where the data is.
  Matrix<std::uint32_t> location_distance;
  /// From the CPUs of a node (row) to the memory of a node (column). 0: unknown. Empty: nothing is known.
  Matrix<float> read_latency_ns;
  Matrix<float> write_latency_ns;
  Matrix<float> bandwidth_mbs;
  /// From the CPUs of a cache domain (row) to the home cache of another (column). Only where home caches are
  /// the locations.
  Matrix<float> home_latency_ns;

  /// Index into cpus, or -1 when that CPU is not online.
  int cpu_index(unsigned cpu_os) const { return cpu_os < cpu_index_.size() ? cpu_index_[cpu_os] : -1; }
  /// Index into nodes, or -1.
  int node_index(unsigned node_os) const;
  /// Index into locations of the place where `cpu_os` runs, or -1 (a CPU that we may not use, or a node that
  /// is no location).
  int location_of_cpu(unsigned cpu_os) const { return cpu_os < cpu_location_.size() ? cpu_location_[cpu_os] : -1; }
  /// min(usable CPUs, ⌈quota⌉), at least 1: the number of threads of a team nobody said anything about.
  unsigned default_team_size() const;

  /// Scales a latency table to relative distances: the smallest entry above 0 becomes 10, unknown entries the
  /// largest.
  static Matrix<std::uint32_t> distances_from_latencies(const Matrix<float>& latencies);

  /// Drops CPUs that are not online from `allowed_cpus`, works out all cross references, locations and the
  /// matrices over locations. Sources call it last. If nothing of `allowed_cpus` is online, every online CPU
  /// counts as usable: a mask that does not fit the machine (a replay with another affinity) must not leave a
  /// machine without CPUs. An empty `allowed_memory` means that nobody restricts it.
  void restrict_to(const CpuMask& allowed_cpus, const NodeMask& allowed_memory, const CpuQuota& cpu_quota);

  /// What the locations are: nodes (as restrict_to() leaves them) or last-level caches. A machine whose
  /// locations are home caches keeps them.
  void use_locations(LocationKind kind);

  /// Empty when every invariant above holds, else the first that does not. For tests and for --replay.
  std::string inconsistency() const;

 private:
  struct Holders;  // per CPU number: the package, node, cache, core and kind that it belongs to

  // The steps of restrict_to(), in order.
  void fill_gaps();
  void fill_in_caches();
  Holders sort_units();
  void list_cpus(const Holders& of);
  void link_units(const Holders& of, const NodeMask& allowed_memory);
  void make_locations();

  std::vector<int> cpu_index_;
  std::vector<int> cpu_location_;
};

/// The orders in which the design's words are listed: packages by their smallest CPU, in them nodes, caches,
/// cores, then SMT siblings. Every list of places follows it.
std::vector<unsigned> cpus_in_machine_order(const Machine& machine, const CpuMask& which);

}  // namespace hearth::topology
