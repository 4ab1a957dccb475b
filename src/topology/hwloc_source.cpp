// hwloc's object tree turned into a Machine. Every call goes through a pointer that dlsym() found: no call
// here may be one of hwloc's inline helpers, because those refer to the library by name.
#include "topology/hwloc_source.h"

#include <cerrno>
#include <cstring>

#include <algorithm>

#include <dlfcn.h>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <hwloc/memattrs.h>

#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr const char* kLibrary = "libhwloc.so.15";

struct Hwloc {
  decltype(&::hwloc_topology_init) topology_init;
  decltype(&::hwloc_topology_destroy) topology_destroy;
  decltype(&::hwloc_topology_set_xml) set_xml;
  decltype(&::hwloc_topology_set_synthetic) set_synthetic;
  decltype(&::hwloc_topology_set_flags) set_flags;
  decltype(&::hwloc_topology_load) load;
  decltype(&::hwloc_get_type_depth) get_type_depth;
  decltype(&::hwloc_get_nbobjs_by_depth) get_nbobjs_by_depth;
  decltype(&::hwloc_get_obj_by_depth) get_obj_by_depth;
  decltype(&::hwloc_topology_get_allowed_cpuset) get_allowed_cpuset;
  decltype(&::hwloc_topology_get_allowed_nodeset) get_allowed_nodeset;
  decltype(&::hwloc_bitmap_next) bitmap_next;
  decltype(&::hwloc_distances_get_by_name) distances_get_by_name;
  decltype(&::hwloc_distances_release) distances_release;
  decltype(&::hwloc_cpukinds_get_nr) cpukinds_get_nr;  // hwloc 2.4; the rest is in every hwloc 2
  decltype(&::hwloc_cpukinds_get_info) cpukinds_get_info;
  decltype(&::hwloc_bitmap_alloc) bitmap_alloc;
  decltype(&::hwloc_bitmap_free) bitmap_free;

  void* library = nullptr;

  ~Hwloc() {
    if (library != nullptr) dlclose(library);
  }

  std::string open() {
    library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = dlerror();
      return format(
          "cannot open %s (%s): install hwloc 2 (Debian: libhwloc15), or give the machine as a model file (.toml)",
          kLibrary, why != nullptr ? why : "no reason given");
    }
    std::string missing;
    const auto find = [&](auto& slot, const char* name, bool needed = true) {
      slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(dlsym(library, name));
      if (slot == nullptr && needed && missing.empty()) missing = name;
    };
    find(topology_init, "hwloc_topology_init");
    find(topology_destroy, "hwloc_topology_destroy");
    find(set_xml, "hwloc_topology_set_xml");
    find(set_synthetic, "hwloc_topology_set_synthetic");
    find(set_flags, "hwloc_topology_set_flags");
    find(load, "hwloc_topology_load");
    find(get_type_depth, "hwloc_get_type_depth");
    find(get_nbobjs_by_depth, "hwloc_get_nbobjs_by_depth");
    find(get_obj_by_depth, "hwloc_get_obj_by_depth");
    find(get_allowed_cpuset, "hwloc_topology_get_allowed_cpuset");
    find(get_allowed_nodeset, "hwloc_topology_get_allowed_nodeset");
    find(bitmap_next, "hwloc_bitmap_next");
    find(bitmap_alloc, "hwloc_bitmap_alloc");
    find(bitmap_free, "hwloc_bitmap_free");
    find(distances_get_by_name, "hwloc_distances_get_by_name");
    find(distances_release, "hwloc_distances_release");
    find(cpukinds_get_nr, "hwloc_cpukinds_get_nr", false);
    find(cpukinds_get_info, "hwloc_cpukinds_get_info", false);
    return missing.empty() ? std::string() : format("%s has no %s: hwloc 2 is needed", kLibrary, missing.c_str());
  }

  CpuMask mask(hwloc_const_bitmap_t bitmap) const {
    CpuMask result;
    if (bitmap == nullptr) return result;
    for (int i = bitmap_next(bitmap, -1); i >= 0 && i <= static_cast<int>(CpuMask::kMaxCpu);
         i = bitmap_next(bitmap, i)) {
      result.set(static_cast<unsigned>(i));
    }
    return result;
  }

  template <class Function>
  void each(hwloc_topology_t topology, hwloc_obj_type_t type, Function&& function) const {
    const int depth = get_type_depth(topology, type);
    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) return;
    const auto count = static_cast<unsigned>(get_nbobjs_by_depth(topology, depth));
    for (unsigned i = 0; i < count; ++i) function(get_obj_by_depth(topology, depth, i));
  }
};

unsigned os_number(hwloc_obj_t object) {
  return object->os_index == HWLOC_UNKNOWN_INDEX ? object->logical_index : object->os_index;
}

// Per CPU, the largest cache above it, and the first-level data cache.
void read_caches(const Hwloc& hwloc, hwloc_topology_t topology, Machine& machine) {
  const auto keep_levels = [&](hwloc_obj_type_t type, unsigned level) {
    hwloc.each(topology, type, [&](hwloc_obj_t object) {
      CacheDomain llc;
      llc.cpus = hwloc.mask(object->cpuset);
      for (const CacheDomain& larger : machine.llcs)
        llc.cpus -= larger.cpus;  // a larger cache above it is the last level
      if (llc.cpus.empty()) return;
      llc.level = level;
      llc.bytes = object->attr->cache.size;
      llc.line_bytes = object->attr->cache.linesize;
      machine.llcs.push_back(std::move(llc));
    });
  };
  keep_levels(HWLOC_OBJ_L5CACHE, 5);
  keep_levels(HWLOC_OBJ_L4CACHE, 4);
  keep_levels(HWLOC_OBJ_L3CACHE, 3);
  keep_levels(HWLOC_OBJ_L2CACHE, 2);
  keep_levels(HWLOC_OBJ_L1CACHE, 1);
  hwloc.each(topology, HWLOC_OBJ_L1CACHE, [&](hwloc_obj_t object) {
    const CpuMask cpus = hwloc.mask(object->cpuset);
    for (CacheDomain& llc : machine.llcs)
      if (!llc.cpus.empty() && cpus.test(llc.cpus.first())) llc.l1d_bytes = object->attr->cache.size;
  });
}

void read_cpus(const Hwloc& hwloc, hwloc_topology_t topology, Machine& machine) {
  hwloc.each(topology, HWLOC_OBJ_PU, [&](hwloc_obj_t object) { machine.online.set(os_number(object)); });
  hwloc.each(topology, HWLOC_OBJ_CORE, [&](hwloc_obj_t object) {
    Core core;
    core.os = os_number(object);
    core.cpus = hwloc.mask(object->cpuset);
    machine.cores.push_back(std::move(core));
  });
  hwloc.each(topology, HWLOC_OBJ_PACKAGE, [&](hwloc_obj_t object) {
    machine.packages.push_back({.os = os_number(object), .cpus = hwloc.mask(object->cpuset), .usable = {}});
  });
}

void read_nodes(const Hwloc& hwloc, hwloc_topology_t topology, Machine& machine) {
  CpuMask placed;
  hwloc.each(topology, HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t object) {
    Node node;
    node.os = os_number(object);
    node.memory_bytes = object->attr->numanode.local_memory;
    // A synthetic machine always has some; an XML file may hold a node without any.
    node.has_memory = node.memory_bytes > 0;
    // HBM or CXL memory beside DRAM is a second node with the same CPUs: they belong to the first.
    node.cpus = hwloc.mask(object->cpuset) - placed;
    placed |= node.cpus;
    machine.nodes.push_back(std::move(node));
  });
  std::sort(machine.nodes.begin(), machine.nodes.end(), [](const Node& a, const Node& b) { return a.os < b.os; });
}

void read_kinds(const Hwloc& hwloc, hwloc_topology_t topology, Machine& machine) {
  if (hwloc.cpukinds_get_nr == nullptr || hwloc.cpukinds_get_info == nullptr) return;
  const int kinds = hwloc.cpukinds_get_nr(topology, 0);
  hwloc_bitmap_t cpus = hwloc.bitmap_alloc();
  for (int i = 0; cpus != nullptr && kinds > 1 && i < kinds; ++i) {
    int efficiency = 0;
    unsigned infos = 0;
    hwloc_info_s* info = nullptr;
    if (hwloc.cpukinds_get_info(topology, static_cast<unsigned>(i), cpus, &efficiency, &infos, &info, 0) != 0) continue;
    // hwloc ranks kinds from the slowest up, without saying by how much.
    const char* name = i + 1 == kinds ? "performance" : i == 0 ? "efficiency" : "middle";
    CoreKind kind;
    kind.name = i > 0 && i + 1 < kinds && kinds > 3 ? format("%s-%d", name, i) : name;
    kind.capacity = 0;
    kind.cpus = hwloc.mask(cpus);
    machine.kinds.push_back(std::move(kind));
  }
  if (cpus != nullptr) hwloc.bitmap_free(cpus);
}

// hwloc's table of relative latencies, if it covers all nodes with values that a SLIT could have.
void read_distances(const Hwloc& hwloc, hwloc_topology_t topology, Machine& machine) {
  unsigned tables = 1;
  hwloc_distances_s* distances = nullptr;
  if (hwloc.distances_get_by_name(topology, "NUMALatency", &tables, &distances, 0) != 0 || tables == 0 ||
      distances == nullptr)
    return;
  const std::size_t size = machine.nodes.size();
  bool whole = distances->nbobjs == size;
  Matrix<std::uint32_t> table(size, 10);
  for (unsigned a = 0; a < distances->nbobjs && whole; ++a) {
    for (unsigned b = 0; b < distances->nbobjs && whole; ++b) {
      const int row = machine.node_index(os_number(distances->objs[a]));
      const int column = machine.node_index(os_number(distances->objs[b]));
      const hwloc_uint64_t value = distances->values[a * distances->nbobjs + b];
      whole = row >= 0 && column >= 0 && value >= 10 && value <= 65535;
      if (whole)
        table.at(static_cast<std::size_t>(row), static_cast<std::size_t>(column)) = static_cast<std::uint32_t>(value);
    }
  }
  if (whole) {
    machine.node_distance = std::move(table);
    machine.distance_source = DistanceSource::slit;
  }
  hwloc.distances_release(topology, distances);
}

Machine build(const Hwloc& hwloc, hwloc_topology_t topology) {
  Machine machine;
  machine.pretended = true;
  read_caches(hwloc, topology, machine);
  read_cpus(hwloc, topology, machine);
  read_nodes(hwloc, topology, machine);
  read_kinds(hwloc, topology, machine);
  read_distances(hwloc, topology, machine);
  machine.restrict_to(hwloc.mask(hwloc.get_allowed_cpuset(topology)), hwloc.mask(hwloc.get_allowed_nodeset(topology)),
                      {});
  return machine;
}

template <class SetSource>
LoadedMachine load(const std::string& what, SetSource&& set_source, const char* refused) {
  Hwloc hwloc{};
  if (const std::string problem = hwloc.open(); !problem.empty()) return LoadedMachine::failure(what + ": " + problem);
  hwloc_topology_t topology = nullptr;
  if (hwloc.topology_init(&topology) != 0) return LoadedMachine::failure(what + ": hwloc does not start");
  LoadedMachine loaded;
  if (set_source(hwloc, topology) != 0 || hwloc.set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc.load(topology) != 0) {
    loaded.error = format("%s: %s", what.c_str(), refused);
  } else {
    loaded.machine = build(hwloc, topology);
    if (const std::string wrong = loaded.machine.inconsistency(); !wrong.empty()) loaded.error = what + ": " + wrong;
  }
  hwloc.topology_destroy(topology);
  return loaded;
}

}  // namespace

LoadedMachine load_hwloc_xml(const std::string& path) {
  LoadedMachine loaded = load(
      path, [&](const Hwloc& hwloc, hwloc_topology_t topology) { return hwloc.set_xml(topology, path.c_str()); },
      "hwloc cannot read it; legal: an XML file written by lstopo (hwloc 2)");
  loaded.machine.source = Source::hwloc_xml;
  loaded.machine.origin = path;
  return loaded;
}

LoadedMachine load_hwloc_synthetic(const std::string& description) {
  LoadedMachine loaded = load(
      '"' + description + '"',
      [&](const Hwloc& hwloc, hwloc_topology_t topology) { return hwloc.set_synthetic(topology, description.c_str()); },
      "not an hwloc synthetic description; legal: levels from the outermost in, such as "
      "\"package:2 numa:2 l3:1 core:8 pu:2\"");
  loaded.machine.source = Source::hwloc_synthetic;
  loaded.machine.origin = description;
  return loaded;
}

}  // namespace hearth::topology
