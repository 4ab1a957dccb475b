// Every mapper against the best of all mappings, by its own measure, on 500 random graphs of 8 threads. Where theory
// has a bound (Graham 1966, 1969) it is that; else 1.25.
#include <cmath>

#include "mappers/foreign.h"
#include "mappers/parts.h"
#include "mappers/refine.h"
#include "mappers_support.h"

namespace hearth::mappers {
namespace {

constexpr std::uint32_t kGraphs = 500;
constexpr double kBound = 1.25;

struct Case {
  const char* name;
  topology::Machine machine;
};
std::vector<Case> cases() {
  return {{"2 nodes x 6 cores", papers_machine()},
          {"2 nodes x 2 caches x 2 cores", machine_of(2, 1, 2, 2)},
          {"4 cores", machine_of(1, 1, 1, 4)},
          {"2 nodes x 2 cores", machine_of(2, 1, 1, 2)}};
}

/// The mapper's result by its measure, and the least that any mapping has in which no unit of a level weighs more
/// than the heaviest of that level does in the mapper's: its own rule of balance, whatever it is.
double ratio(const Places& places, const Graph& graph, const std::vector<double>& weight,
             const std::vector<std::uint32_t>& place_of) {
  double value = 0;
  for (const Edge& edge : graph.edges) value += edge.weight * places.between(place_of[edge.a], place_of[edge.b]);
  const double best = LeastHops(places, graph, weight, place_of).value();
  if (value == best) return 1;
  return best == 0 ? std::numeric_limits<double>::infinity() : value / best;
}

/// A mapper that needs a library which is not here.
bool is_left_out(const std::string& problem) {
  return problem.find("is not built in") != std::string::npos || problem.find("is not installed") != std::string::npos;
}

void expect_few_hops(const char* name, bool by_load) {
  const Mapper& mapper = *find_mapper(name);
  for (const Case& one : cases()) {
    const Target target(one.machine, LeafUnit::core);
    const Places places(target);
    for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
      const Graph graph = random_graph(seed);
      const Mapping mapping = mapper.map(graph, target);
      if (is_left_out(mapping.problem)) GTEST_SKIP() << mapping.problem;
      ASSERT_EQ(mapping.problem, "") << one.name << ", graph " << seed;
      const std::vector<double> weight = by_load ? graph.load : std::vector<double>(graph.size(), 1);
      ASSERT_LE(ratio(places, graph, weight, settle(graph, target, mapping)), kBound) << one.name << ", graph " << seed;
    }
  }
}

TEST(MapperOracle, TreematchHasFewHopBytes) { expect_few_hops("treematch", false); }
TEST(MapperOracle, EagermapHasFewHopBytesAmongEqualGroups) { expect_few_hops("eagermap", false); }
TEST(MapperOracle, ScotchHasFewHopBytesAtItsBalance) { expect_few_hops("scotch", true); }

void expect_small_cut(PartGraph part_graph) {
  for (const std::uint32_t parts : {2u, 4u}) {
    const Places places(parts);
    for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
      const Graph graph = random_graph(seed);
      Groups part_of;
      const std::string problem = part_graph(graph, parts, part_of);
      if (is_left_out(problem)) GTEST_SKIP() << problem;
      ASSERT_EQ(problem, "") << parts << " parts, graph " << seed;
      refine(places, graph.edges, graph.load, part_of);
      ASSERT_LE(ratio(places, graph, graph.load, part_of), kBound) << parts << " parts, graph " << seed;
    }
  }
}

TEST(MapperOracle, MetisHasASmallCutAtItsBalance) { expect_small_cut(metis_parts); }
TEST(MapperOracle, ZoltanHasASmallCutAtItsBalance) { expect_small_cut(zoltan_parts); }

/// Zoltan sees objects: four threads that share one are cut once, as pairs they would weigh six times as much.
TEST(MapperOracle, ZoltanKeepsTheThreadsOfAnObjectTogether) {
  GraphBuilder builder;
  for (int t = 0; t < 12; ++t) builder.add_thread("", 1);
  for (Thread first = 0; first < 3; ++first) builder.add_object({first, first + 3, first + 6, first + 9}, 10);
  for (Thread t = 0; t + 1 < 12; ++t) builder.add_object({t, t + 1}, 1);
  const Graph graph = builder.take();
  Groups part_of;
  const std::string problem = zoltan_parts(graph, 3, part_of);
  if (is_left_out(problem)) GTEST_SKIP() << problem;
  ASSERT_EQ(problem, "");
  for (Thread t = 3; t < 12; ++t) EXPECT_EQ(part_of[t], part_of[t % 3]);
  EXPECT_NE(part_of[0], part_of[1]);
  EXPECT_NE(part_of[1], part_of[2]);
  EXPECT_NE(part_of[0], part_of[2]);
}

TEST(MapperOracle, ZoltanGivesTheSameEachTimeAndTakesWhatHasNoObjects) {
  const Graph graph = random_graph(1);
  Groups once, again, other;
  const std::string problem = zoltan_parts(graph, 3, once);
  if (is_left_out(problem)) GTEST_SKIP() << problem;
  ASSERT_EQ(problem, "");
  ASSERT_EQ(zoltan_parts(random_graph(2, 5), 2, other), "");
  ASSERT_EQ(zoltan_parts(graph, 3, again), "");
  EXPECT_EQ(once, again);
  GraphBuilder builder;
  for (int t = 0; t < 8; ++t) builder.add_thread("", 1);
  const Graph alone = builder.take();
  ASSERT_EQ(zoltan_parts(alone, 4, other), "");
  std::vector<int> threads(4, 0);
  for (const std::uint32_t part : other) ++threads.at(part);
  EXPECT_EQ(threads, std::vector<int>(4, 2));
  ASSERT_EQ(zoltan_parts(alone, 1, other), "");
  EXPECT_EQ(other, Groups(8, 0));
}

/// The time until the last core is done.
void expect_early_end(const char* name, const std::function<double(double cores)>& bound) {
  const Mapper& mapper = *find_mapper(name);
  for (const std::size_t cores : {2u, 3u, 4u}) {
    const Target target(machine_of(1, 1, 1, static_cast<int>(cores)), LeafUnit::core);
    for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
      const Graph graph = random_graph(seed);
      const auto end = [&](const std::vector<LeafIndex>& leaf_of) {
        return measure(graph, target, leaf_of).largest_load;
      };
      const double best = BestOfAll(target, graph.size(), graph.size(), end).value();
      const double own = end(settle(graph, target, mapper.map(graph, target)));
      ASSERT_LE(own, best * bound(static_cast<double>(cores)) * (1 + 1e-9)) << cores << " cores, graph " << seed;
    }
  }
}

double list_scheduling(double cores) { return 2 - 1 / cores; }             // Graham 1966, any order
double heaviest_first(double cores) { return 4.0 / 3 - 1 / (3 * cores); }  // Graham 1969

TEST(MapperOracle, OlbEndsWithinGrahamsBound) { expect_early_end("olb", list_scheduling); }
TEST(MapperOracle, MctEndsWithinGrahamsBound) { expect_early_end("mct", list_scheduling); }
TEST(MapperOracle, MinMinEndsWithinGrahamsBound) { expect_early_end("min-min", list_scheduling); }
TEST(MapperOracle, MaxMinEndsWithinGrahamsBoundForHeaviestFirst) { expect_early_end("max-min", heaviest_first); }
TEST(MapperOracle, Greedy2EndsWithinTheBetterBound) { expect_early_end("greedy-2", heaviest_first); }

TEST(MapperOracle, LbaHasTheLeastSumOfTimes) {
  const topology::Machine machine = machine_of(
      "[[node]]\nmark = \"A\"\nnumber = 0\npackage = 0\ncores = ["
      "{ count = 2, kind = \"performance\", capacity = 1024 }, "
      "{ count = 2, kind = \"efficiency\", capacity = 512 }]");
  const Target target(machine, LeafUnit::core);
  const auto sum = [&](const Graph& graph, const std::vector<LeafIndex>& leaf_of) {
    double all = 0;
    for (Thread t = 0; t < graph.size(); ++t) all += graph.load[t] / target.leaves()[leaf_of[t]].capacity;
    return all;
  };
  ASSERT_FALSE(target.alike());
  for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = random_graph(seed);
    const double best = BestOfAll(target, graph.size(), graph.size(), [&](const auto& leaf_of) {
                          return sum(graph, leaf_of);
                        }).value();
    EXPECT_DOUBLE_EQ(sum(graph, settle(graph, target, map_lba(graph, target))), best);
  }
}

TEST(MapperOracle, CompactHasTheLeastHopsBetweenNeighbours) {
  for (const Case& one : cases()) {
    const Target target(one.machine, LeafUnit::core);
    GraphBuilder builder;
    for (int t = 0; t < 8; ++t) builder.add_thread("", 1);
    for (Thread t = 0; t + 1 < 8; ++t) builder.add_edge(t, t + 1, 1);
    const Graph chain = builder.take();
    const std::vector<LeafIndex> leaf_of = settle(chain, target, map_compact(chain, target));
    EXPECT_LE(ratio(Places(target), chain, std::vector<double>(8, 1), leaf_of), kBound) << one.name;
  }
}

/// Whether every unit of every level has its share of the threads.
TEST(MapperOracle, ScatterIsAsEvenAsCanBe) {
  for (const Case& one : cases()) {
    const Target target(one.machine, LeafUnit::core);
    for (std::size_t threads = 1; threads <= 8; ++threads) {
      const Graph graph = random_graph(1, threads);
      std::vector<std::uint32_t> leaf_of = settle(graph, target, map_scatter(graph, target));
      for (std::size_t level = 0; level < target.levels().size(); ++level) {
        std::vector<std::size_t> count(target.levels()[level].units, 0);
        for (const LeafIndex leaf : leaf_of) ++count[target.leaves()[leaf].path[level]];
        const auto [least, most] = std::minmax_element(count.begin(), count.end());
        EXPECT_LE(*most - *least, 1u) << one.name << ", " << threads << " threads, " << target.levels()[level].name;
      }
    }
  }
}

/// Its measure: no two threads that exchange data without a core in common, and autonomous threads as even as can be.
TEST(MapperOracle, BtdmKeepsPartnersTogetherAndOthersApart) {
  for (const Case& one : cases()) {
    const Target target(one.machine, LeafUnit::core);
    for (std::uint32_t seed = 0; seed < kGraphs; ++seed) {
      Graph graph = random_graph(seed);
      std::mt19937 random(seed);
      // Pairs of threads that work together, and threads that work alone.
      graph.edges.clear();
      for (Thread t = 0; t + 1 < 8; t += 2) {
        const bool pair = random() % 2 == 0;
        graph.kind[t] = graph.kind[t + 1] = pair ? ThreadClass::side_by_side : ThreadClass::autonomous;
        if (pair) graph.edges.push_back({t, t + 1, 1});
      }
      const Mapping mapping = map_btdm(graph, target);
      std::vector<std::size_t> apart(target.size(), 0);
      std::size_t homes = 0;
      for (Thread t = 0; t < 8; ++t) {
        ASSERT_EQ(mapping.leaves[t].size(), 1u);
        const bool second = graph.kind[t] == ThreadClass::side_by_side && t % 2 == 1;
        if (second)
          EXPECT_EQ(mapping.leaves[t], mapping.leaves[t - 1]) << one.name << ", graph " << seed;
        else
          ++apart[mapping.leaves[t][0]], ++homes;
      }
      EXPECT_LE(*std::max_element(apart.begin(), apart.end()), (homes + target.size() - 1) / target.size());
    }
  }
}

}  // namespace
}  // namespace hearth::mappers
