// Last-level caches as locations: which there are, whose CPUs and memory they have, how far they are from
// each other.
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "cli/topo.h"
#include "support.h"
#include "topology/current.h"
#include "topology/fingerprint.h"
#include "topology/sysfs.h"

namespace hearth::topology::test {
namespace {

Machine by_caches(Machine machine) {
  machine.use_locations(LocationKind::llc);
  EXPECT_EQ(machine.inconsistency(), "");
  return machine;
}

Machine shipped(const char* name) {
  LoadedMachine loaded = load_machine(name, {HEARTH_MODELS});
  EXPECT_TRUE(loaded.ok()) << loaded.error;
  return by_caches(std::move(loaded.machine));
}

// Every usable CPU is at exactly one location, of its own cache and node.
void expect_all_cpus_at_home(const Machine& machine) {
  std::size_t cpus = 0;
  for (std::size_t i = 0; i < machine.locations.size(); ++i) {
    const Location& location = machine.locations[i];
    cpus += location.cpus.count();
    location.cpus.for_each([&](unsigned os) {
      EXPECT_EQ(machine.location_of_cpu(os), static_cast<int>(i));
      const Cpu& cpu = machine.cpus[static_cast<std::size_t>(machine.cpu_index(os))];
      EXPECT_EQ(cpu.llc, location.llc);
      EXPECT_EQ(cpu.node, location.node);
    });
  }
  EXPECT_EQ(cpus, machine.usable.count());
}

TEST(CachesAsLocations, TwoOfEachNodeWithFourNodesPerSocket) {
  const Machine machine = shipped("epyc-nps4x2");
  ASSERT_EQ(machine.locations.size(), 16U);
  expect_all_cpus_at_home(machine);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(machine.locations[i].kind, LocationKind::llc);
    EXPECT_EQ(machine.locations[i].node, static_cast<int>(i / 2)) << "a node's stand together";
    EXPECT_EQ(machine.locations[i].cpus.count(), 16U) << "eight cores, two threads each";
    EXPECT_TRUE(machine.locations[i].holds_memory);
    for (std::size_t j = 0; j < 16; ++j)
      EXPECT_EQ(machine.location_distance.at(i, j), i == j ? 10U : i / 2 == j / 2 ? 11U : i / 8 == j / 8 ? 12U : 32U);
  }
}

TEST(CachesAsLocations, EightOfEachNodeWithOneNodePerSocket) {
  const Machine machine = shipped("epyc-nps1x2");
  ASSERT_EQ(machine.locations.size(), 16U);
  expect_all_cpus_at_home(machine);
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j)
      EXPECT_EQ(machine.location_distance.at(i, j), i == j           ? 10U
                                                    : i / 8 == j / 8 ? 11U
                                                                     : machine.node_distance.at(i / 8, j / 8));
}

TEST(CachesAsLocations, NodesComeBack) {
  Machine machine = shipped("epyc-nps4x2");
  machine.use_locations(LocationKind::node);
  const LoadedMachine other = load_machine("epyc-nps4x2", {HEARTH_MODELS});
  ASSERT_EQ(machine.locations.size(), 8U);
  EXPECT_EQ(machine.location_distance, other.machine.location_distance);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.locations[i].cpus, other.machine.locations[i].cpus);
    EXPECT_EQ(machine.locations[i].llc, -1);
  }
}

TEST(CachesAsLocations, HomeCachesStayWhatTheyAre) {
  const Machine machine = shipped("tilepro64");
  EXPECT_EQ(machine.location_kind, LocationKind::home_cache);
  EXPECT_EQ(machine.locations.size(), 63U);
  EXPECT_EQ(machine.location_distance.at(0, 1), 40U);
}

TEST(CachesAsLocations, OnlyThoseWithACpuThatMayBeUsed) {
  Machine machine = by_caches(regular(2, 1, 4, 2, 1));
  EXPECT_EQ(machine.locations.size(), 8U);
  machine.restrict_to(cpus("0-2,6,8-9"), {}, {});
  EXPECT_EQ(machine.location_kind, LocationKind::llc) << "a narrower mask changes nothing else";
  ASSERT_EQ(machine.locations.size(), 4U);
  expect_all_cpus_at_home(machine);
  EXPECT_EQ(machine.locations[1].cpus, cpus("2"));
  EXPECT_EQ(machine.locations[3].node, 1);
}

TEST(CachesAsLocations, MemoryIsItsNodesAndDividedEqually) {
  Machine machine = regular(2, 1, 4, 2, 1);
  for (Node& node : machine.nodes) node.memory_bytes = std::uint64_t{64} << 30;
  NodeMask first;
  first.set(0);
  machine.restrict_to(machine.online, first, {});
  machine = by_caches(std::move(machine));
  for (const Location& location : machine.locations) {
    EXPECT_EQ(location.holds_memory, location.node == 0);
    EXPECT_EQ(location.memory_bytes, std::uint64_t{16} << 30);
  }
}

TEST(CachesAsLocations, ANodeWithoutCpusIsALocationByItself) {
  const LoadedMachine loaded = parse_model(
      "schema = 1\nname = \"test\"\n"
      "[[node]]\nnumber = 0\npackage = 0\nmark = \"A\"\ncores = [{ count = 4, llcs = 2 }]\n"
      "[[node]]\nnumber = 2\nmark = \"A\"\nmemory_bytes = 1000\n",
      "test.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  const Machine machine = by_caches(loaded.machine);
  ASSERT_EQ(machine.locations.size(), 3U);
  EXPECT_EQ(machine.locations[2].kind, LocationKind::node);
  EXPECT_EQ(machine.locations[2].memory_bytes, 1000U);
  EXPECT_EQ(machine.location_distance.at(0, 1), 11U);
  EXPECT_EQ(machine.location_distance.at(0, 2), machine.node_distance.at(0, 1));
  EXPECT_EQ(machine.location_distance.at(2, 2), 10U);
}

TEST(CachesAsLocations, ACacheThatSpansNodesIsOneInEach) {
  Machine machine = regular(1, 2, 1, 4, 1);
  machine.llcs.resize(1);
  machine.llcs[0].cpus = machine.online;
  machine.restrict_to(machine.online, {}, {});
  ASSERT_EQ(machine.llcs.size(), 1U);
  machine = by_caches(std::move(machine));
  ASSERT_EQ(machine.locations.size(), 2U);
  EXPECT_EQ(machine.locations[0].llc, machine.locations[1].llc);
  EXPECT_EQ(machine.location_distance.at(0, 1), machine.node_distance.at(0, 1));
}

TEST(WithoutSysfs, TheCpusOfTheMaskAreOnePackageAndTheSourceSaysSo) {
  const std::filesystem::path empty = std::filesystem::temp_directory_path() /
                                      ("hearth-no-sys-" + std::to_string(getpid()));
  std::filesystem::create_directory(empty);
  Allowance allowance;
  for (unsigned cpu : {0u, 1u, 5u}) allowance.cpus.set(cpu);
  const Machine machine = read_sysfs(SystemRoot(empty.string()), allowance);
  std::filesystem::remove(empty);
  ASSERT_EQ(machine.packages.size(), 1u);
  EXPECT_EQ(machine.packages[0].cpus.list(), "0-1,5");
  EXPECT_EQ(machine.cores.size(), 3u);
  EXPECT_NE(cli::describe_machine(machine, true)
                .find("tells nothing; known are only the CPUs of this process's affinity mask"),
            std::string::npos);
}

TEST(CachesAsLocations, AreShown) {
  const Machine machine = shipped("epyc-nps4x2");
  const std::string text = cli::describe_machine(machine, false);
  EXPECT_NE(text.find("Locations: 16 last-level caches"), std::string::npos) << text;
  EXPECT_NE(text.find("15:7"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(cli::machine_json(machine));
  EXPECT_EQ(json["locations"][3]["kind"], "last-level cache");
  EXPECT_EQ(json["locations"][3]["node"], 1);
  EXPECT_EQ(json["distances"]["locations"][0][1], 11);
}

TEST(Fingerprint, IsTheSameForTheSameMachineOnly) {
  std::set<std::uint64_t> all;
  for (const char* name : {"opteron-6172x4", "opteron-8347hex4", "tilepro64"}) {
    const LoadedMachine loaded = load_machine(name, {HEARTH_MODELS}), again = load_machine(name, {HEARTH_MODELS});
    ASSERT_TRUE(loaded.ok()) << loaded.error;
    EXPECT_EQ(fingerprint(loaded.machine), fingerprint(again.machine)) << name;
    all.insert(fingerprint(loaded.machine));
  }
  EXPECT_EQ(all.size(), 3u);
  EXPECT_EQ(all.count(0), 0u);
}

TEST(Fingerprint, TellsWhetherLocationsAreNodesOrCaches) {
  LoadedMachine loaded = load_machine("epyc-9654x2-nps4", {HEARTH_MODELS});
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  const std::uint64_t nodes = fingerprint(loaded.machine);
  EXPECT_NE(fingerprint(by_caches(std::move(loaded.machine))), nodes);
}

}  // namespace
}  // namespace hearth::topology::test
