// Machines that are not here: model files, hwloc XML and synthetic strings.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <hwloc.h>

#include "support.h"
#include "topology/current.h"
#include "topology/hwloc_source.h"
#include "topology/places.h"

namespace hearth::topology::test {
namespace {

Machine shipped(const char* name) {
  LoadedMachine loaded = load_machine(name, {HEARTH_MODELS});
  EXPECT_TRUE(loaded.ok()) << loaded.error;
  EXPECT_EQ(loaded.machine.inconsistency(), "");
  EXPECT_TRUE(loaded.machine.pretended);
  return std::move(loaded.machine);
}

std::string error_of(const std::string& text) {
  const LoadedMachine loaded = parse_model(text, "m.toml");
  return loaded.error;
}

TEST(Models, EveryShippedOneIsGoodAndNamedLikeItsFile) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HEARTH_MODELS)) {
    if (entry.path().extension() != ".toml") continue;
    ++seen;
    EXPECT_EQ(shipped(entry.path().stem().c_str()).name, entry.path().stem().string());
  }
  EXPECT_GE(seen, 6);
}

TEST(Models, TheOpteronOfThePaper) {
  const Machine machine = shipped("opteron-6172x4");
  EXPECT_EQ(machine.cores.size(), 48U);
  EXPECT_EQ(machine.packages.size(), 4U);
  ASSERT_EQ(machine.locations.size(), 8U);
  EXPECT_EQ(machine.location_distance.at(0, 1), 22U) << "the package sibling";
  EXPECT_EQ(machine.location_distance.at(0, 2), 16U) << "same parity";
  EXPECT_EQ(machine.llcs[7].bytes, std::uint64_t{5} << 20);
  EXPECT_FLOAT_EQ(machine.read_latency_ns.at(0, 1), 160);
  EXPECT_EQ(machine.distance_source, DistanceSource::slit);
}

TEST(Models, TheTileraOfThePaperHasHomeCaches) {
  const Machine machine = shipped("tilepro64");
  ASSERT_EQ(machine.locations.size(), 63U);
  EXPECT_EQ(machine.location_kind, LocationKind::home_cache);
  // 10 cycles here; 38 + 2 per hop elsewhere: 4.0 to 6.6 times as far.
  EXPECT_EQ(machine.location_distance.at(0, 0), 10U);
  EXPECT_EQ(machine.location_distance.at(0, 1), 40U);
  EXPECT_EQ(machine.location_distance.at(7, 56), 66U);
  EXPECT_EQ(machine.location_of_cpu(62), 62);
  EXPECT_EQ(machine.llcs[62].l1d_bytes, 8192U);
  EXPECT_EQ(machine.mesh_width, 8U);
  EXPECT_EQ(machine.mesh_height, 8U);
  EXPECT_EQ(machine.location_of_cpu(63), -1);
}

TEST(Models, LatenciesBecomeDistancesWhereThereIsNoSlit) {
  const Machine machine = shipped("opteron-8347hex4");
  EXPECT_EQ(machine.distance_source, DistanceSource::latency);
  EXPECT_EQ(machine.location_distance.at(0, 1), 12U);
  EXPECT_EQ(machine.location_distance.at(0, 3), 14U);
  EXPECT_FLOAT_EQ(machine.write_latency_ns.at(1, 2), 208);
  EXPECT_EQ(machine.locations[0].memory_bytes, std::uint64_t{8} << 30);
}

TEST(Models, NodesOneByOne) {
  const LoadedMachine loaded = parse_model(R"(
schema = 1
name = "odd"
[[node]]
mark = "A"
number = 0
package = 0
cores = [{count = 2, threads = 2, kind = "fast"}, {count = 4, kind = "slow", capacity = 400, llcs = 2}]
[[node]]
mark = "A"
number = 4
memory_bytes = 1000000
[[node]]
mark = "A"
number = 6
package = 1
memory = false
cores = [{count = 1, kind = "fast"}]
[distance]
slit = {value = [[10, 20, 30], [20, 10, 30], [30, 30, 10]], mark = "A"}
)",
                                           "odd.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  const Machine& machine = loaded.machine;
  EXPECT_EQ(machine.cpus.size(), 9U);
  EXPECT_EQ(machine.nodes[1].os, 4U);
  EXPECT_TRUE(machine.nodes[1].cpus.empty());
  EXPECT_FALSE(machine.nodes[2].has_memory);
  ASSERT_EQ(machine.kinds.size(), 2U);
  EXPECT_EQ(machine.kinds[0].name, "slow");
  EXPECT_EQ(machine.kinds[1].cpus, cpus("0-3,8"));
  EXPECT_EQ(machine.llcs.size(), 4U);
  EXPECT_EQ(machine.location_distance.at(0, 2), 30U);
}

TEST(Models, ErrorsNameFileLineAndWhatIsLegal) {
  const std::string head = "schema = 1\nname = \"m\"\n";
  const std::string one = head + "[structure]\nmark = \"A\"\n";
  EXPECT_EQ(error_of("schema = 1\nname = \n").substr(0, 9), "m.toml:2:");
  EXPECT_EQ(error_of("name = \"m\"\n"), "m.toml:1: no schema; legal: schema = 1");
  EXPECT_EQ(error_of("schema = 2\n"), "m.toml:1: \"schema\" is not legal; legal: a whole number from 1 to 1");
  EXPECT_EQ(error_of(head), "m.toml:1: a model needs exactly one of [structure], [[node]] and [mesh]");
  EXPECT_EQ(error_of(one + "core_per_llc = 3\n"),
            "m.toml:5: unknown key \"core_per_llc\" in [structure]; legal: mark, packages, "
            "nodes_per_package, llcs_per_node, "
            "cores_per_llc, threads_per_core, numbering");
  EXPECT_EQ(error_of(head + "[structure]\npackages = 2\n"),
            "m.toml:3: [structure] has no mark; legal: P, M, S, C, A or H");
  EXPECT_EQ(error_of(head + "[structure]\nmark = \"X\"\n"), "m.toml:4: not a mark; legal: P, M, S, C, A or H");
  EXPECT_EQ(error_of(one + "packages = 0\n"),
            "m.toml:5: \"packages\" is not legal; legal: a whole number from 1 to 1024");
  EXPECT_EQ(error_of(one + "packages = \"2\"\n"),
            "m.toml:5: \"packages\" is not legal; legal: a whole number from 1 to 1024");
  EXPECT_EQ(error_of(one + "packages = 1024\ncores_per_llc = 8192\n"), "m.toml:3: more than 8192 CPUs");
  EXPECT_EQ(error_of(one + "[cache]\nllc_bytes = 5\n"),
            "m.toml:6: \"llc_bytes\" has no mark, and neither has its table; legal: P, M, S, C, A or H");
  EXPECT_EQ(error_of(one + "packages = 2\n[distance]\nslit = {value = [[10, 20]], mark = \"A\"}\n"),
            "m.toml:7: \"slit\" has 1 rows for 2 nodes");
  EXPECT_EQ(error_of(one + "packages = 2\n[distance]\nslit = {value = [[10, 20], [20, 9]], mark = \"A\"}\n"),
            "m.toml:7: \"slit\" is not legal; legal: a number from 10 to 65535");
  EXPECT_EQ(error_of(one + "packages = 2\n[distance]\nmark = \"A\"\nslit = {local = 10}\n"),
            "m.toml:8: \"slit\" lacks \"other_package\"");
  EXPECT_EQ(error_of(one + "numbering = \"odd\"\n").substr(0, 36), "m.toml:5: \"numbering\" is not legal; ");
  EXPECT_EQ(error_of(head + "[mesh]\nmark = \"A\"\nwidth = 2\n"), "m.toml:3: [mesh] needs \"height\"");
}

TEST(Models, LettersBeyondAsciiAreRefusedByLine) {
  EXPECT_EQ(error_of("schema = 1\nname = \"caf\xc3\xa9\"\n"),
            "m.toml:2: a character that is not ASCII text (0xc3); legal: printable ASCII, tabs, line ends");
}

TEST(Models, TheSimulatorsTableIsLeftAlone) {
  EXPECT_EQ(error_of("schema = 1\nname = \"m\"\n[structure]\nmark = \"A\"\n[simulator]\nanything = [1]\n"),
            "");
}

TEST(Hwloc, SyntheticMachines) {
  const LoadedMachine loaded = load_machine("package:2 numa:2 l3:2 core:4 pu:2", {});
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  EXPECT_EQ(loaded.machine.source, Source::hwloc_synthetic);
  EXPECT_EQ(loaded.machine.cpus.size(), 64U);
  EXPECT_EQ(loaded.machine.locations.size(), 4U);
  EXPECT_EQ(loaded.machine.llcs.size(), 8U);
  EXPECT_EQ(loaded.machine.cores.size(), 32U);
  EXPECT_TRUE(loaded.machine.pretended);
  EXPECT_EQ(places_of(PlaceUnit::sockets, loaded.machine).text(), "{0-31},{32-63}");
  EXPECT_NE(load_machine("pakage:2 core:2", {}).error.find("legal: levels from the outermost in"),
            std::string::npos);
}

TEST(Hwloc, XmlOfARecordedMachineIsTheSameMachine) {
  for (const char* name : {"epyc-nps4", "cxl", "holes", "hybrid", "slurm-cpuset"}) {
    SCOPED_TRACE(name);
    const Machine direct = machine_of_tree(name);
    const std::string xml = tree(name) + "/machine.xml";
    setenv("HWLOC_FSROOT", tree(name).c_str(), 1);
    setenv("HWLOC_THISSYSTEM", "0", 1);
    setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    hwloc_topology_t topology = nullptr;
    hwloc_topology_init(&topology);
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_load(topology);
    ASSERT_EQ(hwloc_topology_export_xml(topology, xml.c_str(), 0), 0);
    hwloc_topology_destroy(topology);
    unsetenv("HWLOC_FSROOT");
    unsetenv("HWLOC_THISSYSTEM");
    unsetenv("HWLOC_COMPONENTS");
    const LoadedMachine loaded = load_machine(xml, {});
    ASSERT_TRUE(loaded.ok()) << loaded.error;
    const Machine& machine = loaded.machine;
    EXPECT_EQ(machine.online, direct.online);
    EXPECT_EQ(machine.usable, direct.usable);
    ASSERT_EQ(machine.nodes.size(), direct.nodes.size());
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
      EXPECT_EQ(machine.nodes[n].os, direct.nodes[n].os);
      EXPECT_EQ(machine.nodes[n].cpus, direct.nodes[n].cpus);
      EXPECT_EQ(machine.nodes[n].memory_bytes, direct.nodes[n].memory_bytes);
    }
    EXPECT_EQ(machine.node_distance, direct.node_distance);
    for (PlaceUnit unit : {PlaceUnit::threads, PlaceUnit::cores, PlaceUnit::ll_caches,
                           PlaceUnit::numa_domains, PlaceUnit::sockets}) {
      EXPECT_EQ(places_of(unit, machine).text(), places_of(unit, direct).text());
    }
  }
}

TEST(Hwloc, AFileThatIsNoXmlIsNamed) {
  const std::string path = testing::TempDir() + "/hearth-no.xml";
  std::ofstream(path) << "<topology>";
  EXPECT_EQ(load_machine(path, {}).error,
            path + ": hwloc cannot read it; legal: an XML file written by lstopo (hwloc 2)");
  std::remove(path.c_str());
}

TEST(Machines, UnknownOnesListTheModels) {
  const std::string error = load_machine("opteron", {HEARTH_MODELS}).error;
  EXPECT_NE(error.find("no such machine; legal: "), std::string::npos);
  EXPECT_NE(error.find("opteron-6172x4"), std::string::npos);
  EXPECT_EQ(load_machine("/no/such.toml", {}).error,
            "/no/such.toml: cannot be read; legal: a model file (.toml)");
}

TEST(Machines, TheCurrentOneIsMadeOnceByWhicheverThreadAsks) {
  std::vector<const Machine*> seen(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seen.size(); ++i) threads.emplace_back([&seen, i] { seen[i] = &machine(); });
  for (std::thread& thread : threads) thread.join();
  for (const Machine* one : seen) EXPECT_EQ(one, seen[0]);
  EXPECT_EQ(seen[0]->inconsistency(), "");
  EXPECT_EQ(seen[0]->usable, current_affinity());
  EXPECT_EQ(allowance().cpus, current_affinity());
  EXPECT_FALSE(pretend("opteron-6172x4")) << "too late";
}

}  // namespace
}  // namespace hearth::topology::test
