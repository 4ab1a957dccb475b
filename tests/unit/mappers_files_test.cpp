// The readers of graph files: what they read, and the one line that they say of each fault.
#include <sstream>

#include "mappers/graph_file.h"
#include "mappers_support.h"

namespace hearth::mappers {
namespace {

std::vector<Edge> edges(std::initializer_list<Edge> list) { return list; }

TEST(GraphFiles, MatrixMarketHasWeightsAndLoads) {
  const LoadedGraph loaded = parse_graph(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n3 3 4\n1 2 5\n2 1 2.5\n3 3 7\n1 3 0\n", "g.mtx");
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  EXPECT_EQ(loaded.graph.edges, edges({{0, 1, 7.5}}));
  EXPECT_EQ(loaded.graph.load, (std::vector<double>{0, 0, 7}));
}

TEST(GraphFiles, MetisHasLoadsAndWeights) {
  const LoadedGraph loaded = parse_graph("% comment\n3 2 011\n4 2 7\n1 1 7 3 1\n2 2 1\n", "g.graph");
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  EXPECT_EQ(loaded.graph.edges, edges({{0, 1, 7}, {1, 2, 1}}));
  EXPECT_EQ(loaded.graph.load, (std::vector<double>{4, 1, 2}));
}

TEST(GraphFiles, DotHasNamesClassesAndChains) {
  const LoadedGraph loaded = parse_graph(
      "digraph \"g\" {\n  node [shape=box]; edge [weight=3];\n  main [class=autonomous, load=2.5]; // c\n"
      "  main -> a -> b [label=\"x\"]; subgraph cluster_x { c:p -- a [weight=4] }\n  rankdir = LR\n}\n",
      "g.dot");
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  EXPECT_EQ(loaded.graph.name, (std::vector<std::string>{"main", "a", "b", "c"}));
  EXPECT_EQ(loaded.graph.edges, edges({{0, 1, 3}, {1, 2, 3}, {1, 3, 4}}));
  EXPECT_EQ(loaded.graph.load[0], 2.5);
  EXPECT_EQ(loaded.graph.kind[0], ThreadClass::autonomous);
}

TEST(GraphFiles, TheCompilersExplanationHasClassesPartnersAndObjects) {
  const LoadedGraph loaded = parse_graph(
      "{\"threads\": [\n {\"function\": \"main\", \"line\": 7, \"routine\": \"reader\", "
      "\"class\": \"side-by-side\", \"in_loop\": false,\n"
      "  \"partners\": [\"writer\"], \"shares\": [\"queue\", \"lock\"]},\n"
      " {\"function\": \"main\", \"line\": 8, \"routine\": \"writer\", "
      "\"class\": \"postponed\", \"in_loop\": true,\n"
      "  \"partners\": [\"reader\"], \"shares\": [\"lock\", \"queue\"]}],\n \"tree\": {}}\n",
      "g.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  EXPECT_EQ(loaded.graph.name, (std::vector<std::string>{"reader", "writer"}));
  EXPECT_EQ(loaded.graph.edges, edges({{0, 1, 2}}));
  EXPECT_EQ(loaded.graph.kind[1], ThreadClass::postponed);
  EXPECT_EQ(loaded.graph.objects.size(), 2u);
}

TEST(GraphFiles, TheMainThreadNeedNotBeListed) {
  const LoadedGraph loaded = parse_graph(
      "{\"threads\": [{\"id\": 1, \"routine\": \"w\", \"partner_ids\": [0], "
      "\"estimated_cost\": {\"flops\": 10, \"integer_operations\": 5}}]}",
      "g.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error;
  EXPECT_EQ(loaded.graph.name, (std::vector<std::string>{"w", "main"}));
  EXPECT_EQ(loaded.graph.edges, edges({{0, 1, 1}}));
  EXPECT_EQ(loaded.graph.load, (std::vector<double>{15, 0}));
}

struct Fault {
  const char *file, *text, *line, *what;
};

TEST(GraphFiles, EachFaultHasItsLineAndWhatIsLegal) {
  const Fault faults[] = {
      {"g.mtx", "1 2 3\n", "g.mtx:1: ", "is no Matrix Market file"},
      {"g.mtx", "%%MatrixMarket matrix array real general\n", "g.mtx:1: ", "\"array\" is not read; legal: "},
      {"g.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n", "g.mtx:2: ", "legal: as many of both"},
      {"g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -4\n",
       "g.mtx:3: ", "\"-4\" is negative; legal: 0 to"},
      {"g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n", "g.mtx:3: ", "is no number"},
      {"g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 4\n",
       "g.mtx:3: ", "out of range; legal: 1 to 2"},
      {"g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 4\n",
       "g.mtx:3: ", "ends after 1 of 2 entries"},
      {"g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 4\n",
       "g.mtx:3: ", "above the diagonal; legal"},
      {"g.mtx", "%%MatrixMarket matrix coordinate real general\n99999999 99999999 1\n",
       "g.mtx:2: ", "legal: 1 to 10000"},
      {"g.graph", "", "g.graph:1: ", "is empty; legal: THREADS EDGES"},
      {"g.graph", "3 2\n2\n1 3\n", "g.graph:3: ", "ends after 2 of 3 threads"},
      {"g.graph", "2 1\n2\n\n", "g.graph:3: ", "line 2 joins thread 1 with 2, but"},
      {"g.graph", "2 1 1\n2 5\n1 6\n", "g.graph:3: ", "exchange 6 here and 5 in line 2; legal: the same"},
      {"g.graph", "2 1 1\n2 -5\n1 -5\n", "g.graph:2: ", "negative; legal"},
      {"g.graph", "2 1\n1 2\n1\n", "g.graph:2: ", "its own neighbour; legal"},
      {"g.graph", "2 1 2\n", "g.graph:1: ", "the format \"2\" is not read; legal"},
      {"g.graph", "2 5\n2\n1\n", "g.graph:3: ", "has 1 edges and promises 5"},
      {"g.dot", "graph { a -- b [weight=-1]\n}", "g.dot:1: ", "\"-1\" is negative; legal"},
      {"g.dot", "graph {\n a -- \n}", "g.dot:3: ", "\"}\"; legal: a node"},
      {"g.dot", "graph {\n \"a\n", "g.dot:2: ", "a string begins here"},
      {"g.dot", "graph {\n a -- { b c }\n}", "g.dot:2: ", "legal: a node"},
      {"g.dot", "graph { }", "g.dot:1: ", "no nodes; legal"},
      {"g.dot", "graph { a [class=fast] }", "g.dot:1: ", "the class \"fast\" is unknown; legal"},
      {"g.json", "{\"threads\": [\n{\"routine\": \"a\", \"partners\": [\n7]}]}",
       "g.json:3: ", "no thread with the id 7"},
      {"g.json", "{\"threads\": [{\"class\": \"big\"}]}", "g.json:1: ", "the class \"big\" is unknown; legal"},
      {"g.json", "{\"threads\": [\n{\"routine\": ]}", "g.json:2: ", "is not legal here; legal: a value"},
      {"g.json", "[]", "g.json:1: ", "is no explanation of hearth cc; legal"},
      {"g.json", "{\"threads\": [{\"load\": -3}]}", "g.json:1: ", "negative; legal"},
      {"g.json", "{\"threads\": [{\"id\": 1},\n{\"id\": 1}]}", "g.json:2: ", "a second thread with the id 1"},
      {"g.bin", "\x7f\x45LF\x02", "g.bin:1: ", "is no graph of a known kind; legal: Matrix Market"},
  };
  for (const Fault& fault : faults) {
    const LoadedGraph loaded = parse_graph(fault.text, fault.file);
    EXPECT_TRUE(loaded.error.starts_with(fault.line)) << fault.text << "\n" << loaded.error;
    EXPECT_NE(loaded.error.find(fault.what), std::string::npos) << fault.text << "\n" << loaded.error;
    EXPECT_EQ(loaded.error.find('\n'), std::string::npos) << loaded.error;
  }
}

TEST(Target, HopsFollowTheTreeAndTheNodesDistances) {
  const Target papers(papers_machine(), LeafUnit::core);
  ASSERT_EQ(papers.size(), 12u);
  EXPECT_TRUE(papers.regular());
  EXPECT_EQ(papers.levels().size(), 2u);
  EXPECT_EQ(papers.leaves()[0].cpus.count(), 2u);
  EXPECT_EQ(papers.hops(0, 0), 0u);
  EXPECT_EQ(papers.hops(0, 5), 1u);
  EXPECT_EQ(papers.hops(0, 6), 2u);
  const Target threads(papers_machine(), LeafUnit::hardware_thread);
  EXPECT_EQ(threads.size(), 24u);
  EXPECT_EQ(threads.hops(0, 1), 1u);
  EXPECT_EQ(threads.hops(0, 2), 2u);
}

TEST(Target, AMaskMakesATreeIrregularAndAllMappersButEagermapTakeIt) {
  topology::Machine machine = machine_of(2, 1, 1, 4);
  machine.restrict_to(topology::CpuMask{0, 1, 2, 4}, {}, {});
  const Target target(machine, LeafUnit::core);
  EXPECT_FALSE(target.regular());
  for (const std::size_t threads : {1u, 3u, 4u, 9u, 40u}) {
    const Graph graph = random_graph(7, threads);
    for (const Mapper& mapper : all_mappers()) {
      const Mapping mapping = mapper.map(graph, target);
      if (!mapping.ok()) continue;
      ASSERT_EQ(mapping.leaves.size(), threads) << mapper.name;
      for (const auto& leaves : mapping.leaves) {
        ASSERT_FALSE(leaves.empty()) << mapper.name;
        for (const LeafIndex leaf : leaves) ASSERT_LT(leaf, target.size()) << mapper.name;
      }
    }
    EXPECT_FALSE(map_eagermap(graph, target).ok());
    EXPECT_TRUE(map_treematch(graph, target).ok());
  }
}

TEST(Target, EveryMapperMapsEveryNumberOfThreads) {
  for (const auto& machine : {papers_machine(), machine_of(1, 1, 1, 1), machine_of(2, 2, 2, 2)}) {
    const Target target(machine, LeafUnit::core);
    for (const std::size_t threads : {1u, 2u, 5u, 12u, 13u, 25u, 100u}) {
      const Graph graph = random_graph(3, threads);
      for (const Mapper& mapper : all_mappers()) {
        const Mapping mapping = mapper.map(graph, target);
        if (!mapping.ok()) continue;
        ASSERT_EQ(mapping.leaves.size(), threads) << mapper.name;
        for (const LeafIndex leaf : settle(graph, target, mapping)) ASSERT_LT(leaf, target.size()) << mapper.name;
      }
    }
  }
}

}  // namespace
}  // namespace hearth::mappers
