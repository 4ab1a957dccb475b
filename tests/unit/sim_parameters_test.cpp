// The table [simulator]: the shipped models, draws from ranges, and a message for every kind of fault.
#include "sim/cost/parameters.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "topology/model.h"

namespace hearth::sim {
namespace {

using topology::Machine;

const std::string kModels = HEARTH_SOURCE_DIR "/models/";

Machine machine_of(const std::string& text) {
  topology::LoadedMachine loaded = topology::parse_model(text, "m.toml");
  EXPECT_TRUE(loaded.ok()) << loaded.error;
  return std::move(loaded.machine);
}

Machine shipped(const std::string& name) {
  topology::LoadedMachine loaded = topology::load_model(kModels + name + ".toml");
  EXPECT_TRUE(loaded.ok()) << loaded.error;
  return std::move(loaded.machine);
}

Parameters parameters_of(const std::string& name) {
  LoadedParameters loaded = load_parameters(kModels + name + ".toml", shipped(name));
  EXPECT_TRUE(loaded.ok()) << loaded.error();
  return std::move(loaded.parameters);
}

// Two nodes; line numbers of the [simulator] part begin at 10.
const std::string kHead = R"(schema = 1
name = "m"
[structure]
mark = "A"
packages = 2
[cache]
llc_bytes = { value = 1000, mark = "A" }
[distance]
slit = { value = [[10, 20], [20, 10]], mark = "A" }
)";
const std::string kSimulator = R"([simulator]
mark = "A"
clock_ghz = 2
private_bytes = 1000
llc_ns = 10
memory_gbs = { low = 1, value = 2, high = 3, mark = "P" }
remote_occupancy = 1
write_occupancy = 2
write_latency = 1
[simulator.patterns]
mark = "A"
stream = { misses_in_flight = 8, overlap = 1 }
strided = { mark = "A", misses_in_flight = 8, overlap = 1 }
random = { mark = "A", misses_in_flight = 8, overlap = 1 }
chase = { mark = "A", misses_in_flight = 8, overlap = { low = 0, value = 0.5, high = 1 } }
[[simulator.links]]
name = "only"
pairs = [[0, 1]]
gbs = { low = 4, value = 5, high = 8, mark = "A" }
[[simulator.latency]]
distance = 10
read_ns = { low = 50, value = 70, high = 90, mark = "A" }
[[simulator.latency]]
distance = 20
more_ns = { low = 10, value = 30, high = 50, mark = "A" }
[simulator.scheduling]
mark = "A"
create_ns = 1
deal_ns = 2
take_ns = 3
steal_ns = 4
steal_hop_ns = 5
backoff_min_ns = 6
backoff_max_ns = 7
wake_ns = 8
[simulator.migration]
mark = "A"
move_pages_base_us = 1
move_pages_us = 2
move_thread_us = 3
fault_us = 4
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

// The first problem of the good text with one change.
std::string error_with(const std::string& what, const std::string& by) {
  const LoadedParameters loaded =
      parse_parameters(replaced(kHead + kSimulator, what, by), "m.toml", machine_of(kHead));
  EXPECT_FALSE(loaded.ok()) << by;
  return loaded.error();
}

TEST(Parameters, ASmallModelWordByWord) {
  const LoadedParameters loaded = parse_parameters(kHead + kSimulator, "m.toml", machine_of(kHead));
  ASSERT_TRUE(loaded.ok()) << loaded.error();
  const Parameters& all = loaded.parameters;
  EXPECT_EQ(all.clock_ghz.value, 2);
  EXPECT_EQ(all.clock_ghz.mark, 'A');
  EXPECT_EQ(all.llc_bytes, 1000u);
  ASSERT_EQ(all.memory_gbs.size(), 2u);
  EXPECT_EQ(all.memory_gbs[1].high, 3);
  EXPECT_EQ(all.memory_gbs[1].mark, 'P');
  ASSERT_EQ(all.links.size(), 2u) << "one for each direction";
  ASSERT_EQ(all.routes.size(), 4u);
  ASSERT_EQ(all.routes[1].size(), 1u);
  EXPECT_EQ(all.links[all.routes[1][0]].from, 0u);
  EXPECT_EQ(all.links[all.routes[1][0]].to, 1u);
  EXPECT_TRUE(all.routes[0].empty());
  EXPECT_EQ(all.read_ns.at(0, 0), 70);
  EXPECT_EQ(all.read_ns.at(0, 1), 100);
  EXPECT_EQ(all.coherence_gbs.value, 0);
  EXPECT_EQ(all.backoff_max_ns.value, 7);
}

TEST(Parameters, WhatIsAlikeIsDrawnTogetherAndWhatIsFartherStaysFarther) {
  const Parameters all = parse_parameters(kHead + kSimulator, "m.toml", machine_of(kHead)).parameters;
  EXPECT_EQ(all.ranges(), (std::vector<std::string>{"patterns.chase.overlap", "memory_gbs", "links.only",
                                                    "latency.10", "latency.20"}));
  const Parameters drawn = all.drawn({0.25, 0.5, 0, 0.75, 0.5});
  EXPECT_EQ(drawn.patterns[3].overlap.value, 0.25);
  EXPECT_EQ(drawn.memory_gbs[0].value, 2);
  EXPECT_EQ(drawn.memory_gbs[1].value, 2);
  EXPECT_EQ(drawn.links[1].gbs.value, 4);
  EXPECT_EQ(drawn.read_ns.at(1, 1), 80);
  EXPECT_EQ(drawn.read_ns.at(1, 0), 110);
  EXPECT_TRUE(drawn.ranges().empty()) << "a draw has no ranges left";
  EXPECT_EQ(drawn.wake_ns.value, 8);
}

TEST(Parameters, EveryFaultHasALine) {
  EXPECT_EQ(error_with("clock_ghz = 2", "clock_ghz = -2"),
            "m.toml:12: \"clock_ghz\" is not legal; legal: a number from 0.01 to 100");
  EXPECT_EQ(error_with("clock_ghz = 2", "clock_ghz = nan"),
            "m.toml:12: \"clock_ghz\" is not legal; legal: a number from 0.01 to 100");
  EXPECT_EQ(error_with("clock_ghz = 2", "clock_ghz = 1e300"),
            "m.toml:12: \"clock_ghz\" is not legal; legal: a number from 0.01 to 100");
  EXPECT_EQ(error_with("clock_ghz = 2", "clock_ghz = \"2\""),
            "m.toml:12: \"clock_ghz\" is not legal; legal: a number from 0.01 to 100");
  EXPECT_EQ(error_with("clock_ghz = 2", ""), "m.toml:10: [simulator] needs \"clock_ghz\"");
  EXPECT_EQ(error_with("\nmark = \"A\"\nclock", "\n\nclock"),
            "m.toml:12: \"clock_ghz\" has no mark, and neither has its table; legal: P, M, S, C, A or H");
  EXPECT_EQ(error_with("clock_ghz = 2", "clock_ghz = { value = 2, mark = \"Q\" }"),
            "m.toml:12: not a mark; legal: P, M, S, C, A or H");
  EXPECT_EQ(error_with("clock_ghz = 2", "clock_ghz = { value = 2, low = 1 }"),
            "m.toml:12: \"clock_ghz\" has half a range; legal: both low and high, or neither");
  EXPECT_EQ(error_with("clock_ghz = 2", "clock_ghz = { value = 2, low = 2.5, high = 3 }"),
            "m.toml:12: \"clock_ghz\" is not in order; legal: low <= value <= high");
  EXPECT_EQ(error_with("private_bytes = 1000", "private_bytes = 10.5"),
            "m.toml:13: \"private_bytes\" is not legal; legal: a whole number of bytes, without a range");
  EXPECT_EQ(error_with("llc_ns = 10", "llc_ns = 10\nline_bytes = 48"),
            "m.toml:15: \"line_bytes\" is not a power of two");
  EXPECT_EQ(error_with("memory_gbs = {", "memory_gbs = [1, 2, 3]\ncoherence_gbs = {"),
            "m.toml:15: \"memory_gbs\" has 3 figures for 2 locations");
  EXPECT_EQ(error_with("write_latency", "off_chip_ns").substr(0, 60),
            "m.toml:10: [simulator] needs \"write_latency\"");
  EXPECT_EQ(error_with("fault_us = 4", "fault_us = 4\nfoult_us = 4").substr(0, 60),
            "m.toml:51: unknown key \"foult_us\" in [simulator.migration]; ");
  EXPECT_EQ(error_with("pairs = [[0, 1]]", "pairs = [[0, 2]]"),
            "m.toml:27: a link to node 2, which does not exist");
  EXPECT_EQ(error_with("pairs = [[0, 1]]", "pairs = [[0, -1]]"),
            "m.toml:27: a link to node -1, which does not exist");
  EXPECT_EQ(error_with("pairs = [[0, 1]]", "pairs = [[1, 1]]"), "m.toml:27: a link from a node to itself");
  EXPECT_EQ(error_with("pairs = [[0, 1]]", "pairs = [[0, 1], [1, 0]]"),
            "m.toml:27: a second link between the same nodes");
  EXPECT_EQ(
      error_with("[[simulator.links]]\nname = \"only\"\npairs = [[0, 1]]\ngbs", "[[simulator.links]]\nfoo"),
      "m.toml:26: unknown key \"foo\" in [[simulator.links]]; legal: mark, name, pairs, gbs");
  EXPECT_EQ(error_with("distance = 20", "distance = 21"),
            "m.toml:29: no [[simulator.latency]] for the distance 20, which is that of nodes 0 and 1");
  EXPECT_EQ(error_with("distance = 20", "distance = 9"),
            "m.toml:33: \"distance\" is not legal; legal: a whole number from 11 to 2147483647");
  EXPECT_EQ(error_with("more_ns", "read_ns").substr(0, 60),
            "m.toml:34: unknown key \"read_ns\" in [[simulator.latency]]; l");
  EXPECT_EQ(error_with("backoff_max_ns = 7", "backoff_max_ns = 5"),
            "m.toml:43: \"backoff_max_ns\" can be less than \"backoff_min_ns\"");
  EXPECT_EQ(error_with("[simulator.migration]", "[simulator.migrations]").substr(0, 47),
            "m.toml:10: [simulator] needs [simulator.migrati");
  EXPECT_EQ(error_with("[simulator]\n", "[simulation]\n").substr(0, 8), "m.toml:1");
}

TEST(Parameters, ANodeThatNoLinkReachesIsNamed) {
  const std::string text = kHead + kSimulator;
  const std::size_t from = text.find("[[simulator.links]]");
  const std::size_t to = text.find("[[simulator.latency]]");
  const LoadedParameters loaded =
      parse_parameters(text.substr(0, from) + text.substr(to), "m.toml", machine_of(kHead));
  EXPECT_EQ(loaded.error(), "m.toml:10: no way over [[simulator.links]] from the memory of node 0 to node 1");
}

TEST(Parameters, AllFaultsAreNamedByLine) {
  std::string text = replaced(kHead + kSimulator, "clock_ghz = 2", "clock_ghz = 0");
  text = replaced(text, "deal_ns = 2", "deal_ns = -1");
  text = replaced(text, "distance = 10", "distance = 0");
  const LoadedParameters loaded = parse_parameters(text, "m.toml", machine_of(kHead));
  ASSERT_EQ(loaded.problems.size(), 3u);
  EXPECT_EQ(loaded.problems[0].substr(0, 10), "m.toml:12:");
  EXPECT_EQ(loaded.problems[1].substr(0, 10), "m.toml:30:");
  EXPECT_EQ(loaded.problems[2].substr(0, 10), "m.toml:38:");
}

TEST(Parameters, AModelWithoutTheTableSaysSo) {
  EXPECT_EQ(parse_parameters(kHead, "m.toml", machine_of(kHead)).error(),
            "m.toml:1: no [simulator]: this model says nothing of how fast the machine is");
}

TEST(Parameters, EveryShippedOneReadsAndKeepsToItsLatencies) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (entry.path().extension() != ".toml") continue;
    const std::string name = entry.path().stem().string();
    if (name == "epyc-nps1x2" || name == "epyc-nps4x2") continue;  // known by their distances only
    SCOPED_TRACE(name);
    ++seen;
    const Machine machine = shipped(name);
    const Parameters all = parameters_of(name);
    EXPECT_EQ(all.memory_gbs.size(), machine.locations.size());
    EXPECT_GT(all.llc_bytes, 0u);
    ASSERT_EQ(all.read_ns.empty(), machine.location_kind == topology::LocationKind::home_cache);
    for (std::size_t a = 0; a < machine.read_latency_ns.size(); ++a) {
      for (std::size_t b = 0; b < machine.read_latency_ns.size(); ++b)
        EXPECT_FLOAT_EQ(static_cast<float>(all.read_ns.at(a, b)), machine.read_latency_ns.at(a, b));
    }
    const std::size_t ranges = all.ranges().size();
    for (const double unit : {0.0, 0.5, 0.999999}) {
      const Parameters drawn = all.drawn(std::vector<double>(ranges, unit));
      EXPECT_TRUE(drawn.ranges().empty());
      for (std::size_t a = 0; a < drawn.read_ns.size(); ++a) {
        for (std::size_t b = 0; b < drawn.read_ns.size(); ++b)
          EXPECT_GE(drawn.read_ns.at(a, b), drawn.read_ns.at(a, a));
      }
    }
  }
  EXPECT_GE(seen, 2);
}

TEST(Parameters, OppositeDiesOfTheOpteronAreTwoLinksApart) {
  const Parameters all = parameters_of("opteron-6172x4");
  ASSERT_EQ(all.links.size(), 32u);
  EXPECT_EQ(all.routes[0 * 8 + 1].size(), 1u);
  EXPECT_EQ(all.routes[0 * 8 + 6].size(), 1u);
  EXPECT_EQ(all.routes[0 * 8 + 7].size(), 2u);
  EXPECT_EQ(all.read_ns.at(0, 1), 160) << "as far as any, although one link away";
}

}  // namespace
}  // namespace hearth::sim
