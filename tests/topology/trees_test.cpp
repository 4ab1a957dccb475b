// The sysfs reader on recorded machines: each against what its description says, and all against hwloc.
#include <cstdlib>

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <hwloc/memattrs.h>

#include "support.h"
#include "topology/places.h"

namespace hearth::topology::test {
namespace {

const char* const kTrees[] = {
    "xeon-2-sockets", "epyc-nps4", "sub-numa-clustering", "cxl",  "hmat-complete", "memory-less",
    "holes",          "hybrid",    "big-little",          "cppc", "container-v1",  "container-v2",
    "nested-v1",      "nested-v2", "slurm-cpuset"};

std::vector<std::string> lists(const std::vector<CpuMask>& masks) {
  std::vector<std::string> texts;
  for (const CpuMask& mask : masks) texts.push_back(mask.list());
  return texts;
}

template <class T>
std::vector<std::string> cpus_of(const std::vector<T>& all) {
  std::vector<std::string> texts;
  for (const T& one : all) texts.push_back(one.cpus.list());
  std::sort(texts.begin(), texts.end());
  return texts;
}

// ---- against hwloc

class Hwloc {
 public:
  explicit Hwloc(const std::string& folder) {
    setenv("HWLOC_FSROOT", folder.c_str(), 1);
    setenv("HWLOC_THISSYSTEM", "0", 1);
    setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    EXPECT_EQ(hwloc_topology_init(&topology_), 0);
    hwloc_topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_all_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_ALL);
    EXPECT_EQ(hwloc_topology_load(topology_), 0);
  }
  ~Hwloc() { hwloc_topology_destroy(topology_); }
  Hwloc(const Hwloc&) = delete;
  Hwloc& operator=(const Hwloc&) = delete;

  hwloc_topology_t get() const { return topology_; }

  static CpuMask mask(hwloc_const_bitmap_t bitmap) {
    CpuMask result;
    for (int i = hwloc_bitmap_first(bitmap); i >= 0; i = hwloc_bitmap_next(bitmap, i))
      result.set(static_cast<unsigned>(i));
    return result;
  }
  std::vector<hwloc_obj_t> all(hwloc_obj_type_t type) const {
    std::vector<hwloc_obj_t> objects;
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_obj_by_type(topology_, type, object)) != nullptr;) {
      objects.push_back(object);
    }
    return objects;
  }
  std::vector<std::string> cpusets(hwloc_obj_type_t type) const {
    std::vector<std::string> texts;
    for (hwloc_obj_t object : all(type)) texts.push_back(mask(object->cpuset).list());
    std::sort(texts.begin(), texts.end());
    return texts;
  }

 private:
  hwloc_topology_t topology_ = nullptr;
};

class AgainstHwloc : public testing::TestWithParam<const char*> {};

TEST_P(AgainstHwloc, CpusCoresAndPackagesAreTheSame) {
  const Machine machine = machine_of_tree(GetParam());
  const Hwloc hwloc(tree(GetParam()));
  EXPECT_EQ(machine.inconsistency(), "");
  CpuMask pus;
  for (hwloc_obj_t pu : hwloc.all(HWLOC_OBJ_PU)) pus.set(pu->os_index);
  EXPECT_EQ(machine.online.list(), pus.list());
  EXPECT_EQ(cpus_of(machine.cores), hwloc.cpusets(HWLOC_OBJ_CORE));
  EXPECT_EQ(cpus_of(machine.packages), hwloc.cpusets(HWLOC_OBJ_PACKAGE));
  for (hwloc_obj_t package : hwloc.all(HWLOC_OBJ_PACKAGE)) {
    const auto ours = std::find_if(machine.packages.begin(), machine.packages.end(), [&](const Package& one) {
      return one.cpus == Hwloc::mask(package->cpuset);
    });
    ASSERT_NE(ours, machine.packages.end());
    EXPECT_EQ(ours->os, package->os_index);
  }
  for (hwloc_obj_t core : hwloc.all(HWLOC_OBJ_CORE)) {
    const int cpu = machine.cpu_index(static_cast<unsigned>(hwloc_bitmap_first(core->cpuset)));
    ASSERT_GE(cpu, 0);
    EXPECT_EQ(machine.cores[static_cast<std::size_t>(machine.cpus[static_cast<std::size_t>(cpu)].core)].os,
              core->os_index);
  }
}

TEST_P(AgainstHwloc, NodesAndTheirMemoryAreTheSame) {
  const Machine machine = machine_of_tree(GetParam());
  const Hwloc hwloc(tree(GetParam()));
  const std::vector<hwloc_obj_t> theirs = hwloc.all(HWLOC_OBJ_NUMANODE);
  ASSERT_EQ(machine.nodes.size(), theirs.size());
  for (hwloc_obj_t object : theirs) {
    const int index = machine.node_index(object->os_index);
    ASSERT_GE(index, 0) << object->os_index;
    const Node& node = machine.nodes[static_cast<std::size_t>(index)];
    EXPECT_EQ(node.memory_bytes, object->attr->numanode.local_memory) << object->os_index;
    EXPECT_EQ(node.has_memory, object->attr->numanode.local_memory > 0) << object->os_index;
    // hwloc gives a CPU-less node the CPUs of the nodes that it hangs under; the kernel, and we, give it
    // none.
    if (!node.cpus.empty()) {
      EXPECT_EQ(node.cpus.list(), Hwloc::mask(object->cpuset).list()) << object->os_index;
    }
  }
  CpuMask with_node;
  for (const Node& node : machine.nodes) with_node |= node.cpus;
  EXPECT_EQ(with_node.list(), machine.online.list());
}

TEST_P(AgainstHwloc, EveryCpuHasTheSameLastLevelCache) {
  const Machine machine = machine_of_tree(GetParam());
  const Hwloc hwloc(tree(GetParam()));
  for (hwloc_obj_t pu : hwloc.all(HWLOC_OBJ_PU)) {
    hwloc_obj_t largest = nullptr;
    for (hwloc_obj_t up = pu; up != nullptr; up = up->parent) {
      if (hwloc_obj_type_is_dcache(up->type)) largest = up;
    }
    ASSERT_NE(largest, nullptr);
    const Cpu& cpu = machine.cpus[static_cast<std::size_t>(machine.cpu_index(pu->os_index))];
    const CacheDomain& llc = machine.llcs[static_cast<std::size_t>(cpu.llc)];
    EXPECT_EQ(llc.level, largest->attr->cache.depth) << "CPU " << pu->os_index;
    EXPECT_EQ(llc.bytes, largest->attr->cache.size) << "CPU " << pu->os_index;
    EXPECT_EQ(llc.line_bytes, largest->attr->cache.linesize) << "CPU " << pu->os_index;
    EXPECT_EQ(llc.cpus.list(), Hwloc::mask(largest->cpuset).list()) << "CPU " << pu->os_index;
  }
}

TEST_P(AgainstHwloc, DistancesAreTheSame) {
  const Machine machine = machine_of_tree(GetParam());
  const Hwloc hwloc(tree(GetParam()));
  unsigned tables = 1;
  hwloc_distances_s* distances = nullptr;
  ASSERT_EQ(hwloc_distances_get_by_name(hwloc.get(), "NUMALatency", &tables, &distances, 0), 0);
  if (tables == 0) {
    EXPECT_EQ(machine.nodes.size(), 1U) << "hwloc keeps no table for one node";
    return;
  }
  ASSERT_EQ(distances->nbobjs, machine.nodes.size());
  for (unsigned a = 0; a < distances->nbobjs; ++a) {
    for (unsigned b = 0; b < distances->nbobjs; ++b) {
      const auto row = static_cast<std::size_t>(machine.node_index(distances->objs[a]->os_index));
      const auto column = static_cast<std::size_t>(machine.node_index(distances->objs[b]->os_index));
      if (machine.distance_source == DistanceSource::latency) continue;  // hwloc keeps those apart: see below
      EXPECT_EQ(machine.node_distance.at(row, column), distances->values[a * distances->nbobjs + b]);
    }
  }
  hwloc_distances_release(hwloc.get(), distances);
}

TEST_P(AgainstHwloc, LatenciesAndBandwidthsAreTheSame) {
  const Machine machine = machine_of_tree(GetParam());
  const Hwloc hwloc(tree(GetParam()));
  for (hwloc_obj_t object : hwloc.all(HWLOC_OBJ_NUMANODE)) {
    const auto target = static_cast<std::size_t>(machine.node_index(object->os_index));
    const Node& node = machine.nodes[target];
    hwloc_location initiator{};
    initiator.type = HWLOC_LOCATION_TYPE_CPUSET;
    hwloc_bitmap_t from = hwloc_bitmap_alloc();
    for (unsigned number : {node.access.initiators.first()}) {
      const int index = number == CpuMask::kNone ? -1 : machine.node_index(number);
      if (index < 0) continue;
      machine.nodes[static_cast<std::size_t>(index)].cpus.for_each(
          [&](unsigned cpu) { hwloc_bitmap_set(from, cpu); });
    }
    initiator.location.cpuset = from;
    const auto theirs = [&](hwloc_memattr_id_t what) -> std::uint64_t {
      hwloc_uint64_t value = 0;
      return hwloc_memattr_get_value(hwloc.get(), what, object, &initiator, 0, &value) == 0 ? value : 0;
    };
    EXPECT_EQ(node.access.read_latency_ns, theirs(HWLOC_MEMATTR_ID_READ_LATENCY)) << object->os_index;
    EXPECT_EQ(node.access.write_latency_ns, theirs(HWLOC_MEMATTR_ID_WRITE_LATENCY)) << object->os_index;
    EXPECT_EQ(node.access.read_bandwidth_mbs, theirs(HWLOC_MEMATTR_ID_READ_BANDWIDTH)) << object->os_index;
    EXPECT_EQ(node.access.write_bandwidth_mbs, theirs(HWLOC_MEMATTR_ID_WRITE_BANDWIDTH)) << object->os_index;
    hwloc_bitmap_free(from);
  }
}

TEST_P(AgainstHwloc, WhatIsAllowedFitsItsCpuset) {
  const Machine machine = machine_of_tree(GetParam());
  const Hwloc hwloc(tree(GetParam()));
  EXPECT_EQ(machine.usable.list(), Hwloc::mask(hwloc_topology_get_allowed_cpuset(hwloc.get())).list());
  for (const Node& node : machine.nodes) {
    if (node.has_memory) {
      EXPECT_EQ(node.memory_allowed,
                Hwloc::mask(hwloc_topology_get_allowed_nodeset(hwloc.get())).test(node.os))
          << node.os;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, AgainstHwloc, testing::ValuesIn(kTrees), [](const auto& tree_info) {
  std::string name = tree_info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// ---- what each machine is

TEST(Trees, SocketsWithAlternatingCpuNumbers) {
  const Machine machine = machine_of_tree("xeon-2-sockets");
  ASSERT_EQ(machine.nodes.size(), 2U);
  EXPECT_EQ(machine.nodes[1].cpus, cpus("1-31:2"));
  EXPECT_EQ(machine.cores.size(), 16U);
  // Machine order: all of package 0, siblings side by side.
  const std::vector<unsigned> order = cpus_in_machine_order(machine, machine.usable);
  EXPECT_EQ(std::vector<unsigned>(order.begin(), order.begin() + 4), (std::vector<unsigned>{0, 16, 2, 18}));
  EXPECT_EQ(order[16], 1U);
  EXPECT_EQ(machine.location_of_cpu(7), 1);
  EXPECT_EQ(machine.cpus[16].smt_rank, 1);
  EXPECT_EQ(machine.cpus[0].smt_rank, 0);
}

TEST(Trees, EpycNps4HasTwoCachesPerNodeAndFourNodesPerSocket) {
  const Machine machine = machine_of_tree("epyc-nps4");
  EXPECT_EQ(machine.nodes.size(), 8U);
  EXPECT_EQ(machine.llcs.size(), 16U);
  EXPECT_EQ(machine.llcs[0].cpus, cpus("0-1,32-33"));
  EXPECT_EQ(machine.llcs[0].sharers(), 4U);
  EXPECT_EQ(machine.llcs[3].nodes, std::vector<int>{1});
  EXPECT_EQ(machine.nodes[5].package, 1);
  EXPECT_EQ(machine.location_distance.at(0, 3), 12U);
  EXPECT_EQ(machine.location_distance.at(0, 4), 32U);
  EXPECT_EQ(machine.distance_source, DistanceSource::slit);
}

TEST(Trees, ACacheMaySpanTheNodesOfASocket) {
  const Machine machine = machine_of_tree("sub-numa-clustering");
  ASSERT_EQ(machine.llcs.size(), 2U);
  EXPECT_EQ(machine.llcs[1].nodes, (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(machine.llcs[1].bytes, std::uint64_t{60} << 20);
  EXPECT_EQ(machine.locations.size(), 8U);
  EXPECT_EQ(places_of(PlaceUnit::ll_caches, machine).text(), "{0-15},{16-31}");
}

TEST(Trees, CpuLessNodesAreLocationsForDataOnly) {
  const Machine machine = machine_of_tree("cxl");
  ASSERT_EQ(machine.locations.size(), 4U);
  EXPECT_TRUE(machine.locations[2].cpus.empty());
  EXPECT_TRUE(machine.locations[2].holds_memory);
  EXPECT_EQ(machine.nodes[2].package, -1);
  EXPECT_EQ(machine.nodes[2].access.read_latency_ns, 250U);
  EXPECT_EQ(machine.nodes[2].access.initiators, cpus("0"));
  // Node 1's way to node 2 is unknown, so the latencies do not replace the SLIT.
  EXPECT_EQ(machine.distance_source, DistanceSource::slit);
  EXPECT_EQ(machine.location_distance.at(1, 2), 24U);
  EXPECT_FLOAT_EQ(machine.read_latency_ns.at(0, 2), 250);
  EXPECT_FLOAT_EQ(machine.read_latency_ns.at(1, 2), 0);
  EXPECT_FLOAT_EQ(machine.bandwidth_mbs.at(1, 3), 48000);
  EXPECT_EQ(places_of(PlaceUnit::numa_domains, machine).text(), "{0-7},{8-15}");
}

TEST(Trees, CompleteLatenciesReplaceTheSlit) {
  const Machine machine = machine_of_tree("hmat-complete");
  EXPECT_EQ(machine.distance_source, DistanceSource::latency);
  EXPECT_EQ(machine.node_distance.at(0, 0), 10U);
  EXPECT_EQ(machine.node_distance.at(0, 1), 25U);
}

TEST(Trees, MemoryLessNodesHoldNoData) {
  const Machine machine = machine_of_tree("memory-less");
  ASSERT_EQ(machine.nodes.size(), 4U);
  EXPECT_FALSE(machine.nodes[1].has_memory);
  EXPECT_FALSE(machine.locations[1].holds_memory);
  EXPECT_FALSE(machine.locations[1].cpus.empty());
  EXPECT_EQ(machine.memory_nodes, cpus("0,2"));
}

TEST(Trees, HolesInTheNumbersOfNodesAndCpus) {
  const Machine machine = machine_of_tree("holes");
  ASSERT_EQ(machine.nodes.size(), 3U);
  EXPECT_EQ(machine.nodes[1].os, 8U);
  EXPECT_EQ(machine.nodes[2].os, 252U);
  EXPECT_EQ(machine.node_distance.at(0, 1), 40U);
  EXPECT_EQ(machine.node_distance.at(1, 2), 80U);
  EXPECT_EQ(machine.offline, cpus("4-7,19"));
  EXPECT_EQ(machine.cpu_index(4), -1);
  EXPECT_EQ(machine.location_of_cpu(4), -1);
  EXPECT_EQ(machine.cpus[static_cast<std::size_t>(machine.cpu_index(8))].os, 8U);
  EXPECT_EQ(
      machine
          .cores[static_cast<std::size_t>(machine.cpus[static_cast<std::size_t>(machine.cpu_index(16))].core)]
          .cpus,
      cpus("16-18"));
  EXPECT_EQ(machine.location_of_cpu(31), 1);
  EXPECT_EQ(machine.node_index(252), 2);
  EXPECT_EQ(machine.node_index(1), -1);
}

TEST(Trees, KindsOfCoresOnAHybridProcessor) {
  const Machine machine = machine_of_tree("hybrid");
  ASSERT_EQ(machine.kinds.size(), 3U);
  EXPECT_EQ(machine.kinds[0].name, "low-power");
  EXPECT_EQ(machine.kinds[2].name, "performance");
  EXPECT_EQ(machine.kinds[2].cpus, cpus("0-7"));
  ASSERT_EQ(machine.llcs.size(), 2U) << "the low-power cores have an L2 of their own, and no L3";
  EXPECT_EQ(machine.llcs[0].level, 3U);
  EXPECT_EQ(machine.llcs[1].level, 2U);
  EXPECT_EQ(machine.llcs[1].cpus, cpus("16-17"));
}

TEST(Trees, KindsOfCoresByCapacity) {
  const Machine machine = machine_of_tree("big-little");
  ASSERT_EQ(machine.kinds.size(), 3U);
  EXPECT_EQ(machine.kinds[0].name, "efficiency");
  EXPECT_EQ(machine.kinds[0].capacity, 275U);
  EXPECT_EQ(machine.kinds[1].name, "middle");
  EXPECT_EQ(machine.kinds[2].cpus, cpus("7"));
  ASSERT_EQ(machine.nodes.size(), 1U) << "a kernel without NUMA has one node";
  EXPECT_EQ(machine.nodes[0].memory_bytes, std::uint64_t{8} << 30);
}

TEST(Trees, PreferredCoresAreNotKinds) { EXPECT_EQ(machine_of_tree("cppc").kinds.size(), 1U); }

TEST(Trees, NodesHiddenByTheCpusetAreNotLocations) {
  const Machine machine = machine_of_tree("slurm-cpuset");
  EXPECT_EQ(machine.nodes.size(), 8U) << "they are still known";
  ASSERT_EQ(machine.locations.size(), 2U);
  EXPECT_EQ(machine.nodes[static_cast<std::size_t>(machine.locations[0].node)].os, 1U);
  EXPECT_EQ(machine.locations[0].cpus, cpus("4-7,36-39"));
  EXPECT_EQ(machine.locations[1].cpus, cpus("8,40"));
  EXPECT_EQ(machine.location_of_cpu(8), 1);
  EXPECT_EQ(machine.location_of_cpu(9), -1) << "node 2, but not ours";
  EXPECT_EQ(machine.location_distance.size(), 2U);
  EXPECT_EQ(machine.default_team_size(), 10U);
  EXPECT_EQ(lists(places_of(PlaceUnit::cores, machine).places),
            (std::vector<std::string>{"4,36", "5,37", "6,38", "7,39", "8,40"}));
}

TEST(Trees, AMaskThatFitsNothingLeavesAUsableMachine) {
  const SystemRoot root(tree("container-v2"));
  const Machine machine = read_sysfs(root, read_allowance(root, cpus("100-101")));
  EXPECT_EQ(machine.usable, cpus("0-7"));
  EXPECT_EQ(machine.inconsistency(), "");
}

TEST(Trees, AnEmptyRootIsOneCpu) {
  const SystemRoot root("/nonexistent/root");
  const Allowance allowance = read_allowance(root, {});
  EXPECT_EQ(allowance.cpus, cpus("0"));
  const Machine machine = read_sysfs(root, allowance);
  EXPECT_EQ(machine.inconsistency(), "");
  EXPECT_EQ(machine.online, cpus("0"));
  EXPECT_EQ(machine.default_team_size(), 1U);
  EXPECT_EQ(machine.llcs[0].level, 0U);
  EXPECT_EQ(machine.locations.size(), 1U);
}

TEST(Trees, HiddenSysStillGivesTheCpusOfTheMask) {
  const SystemRoot root("/nonexistent/root");
  const Machine machine = read_sysfs(root, read_allowance(root, cpus("3-6")));
  EXPECT_EQ(machine.usable, cpus("3-6"));
  EXPECT_EQ(machine.locations[0].cpus, cpus("3-6"));
  EXPECT_EQ(machine.default_team_size(), 4U);
}

}  // namespace
}  // namespace hearth::topology::test
