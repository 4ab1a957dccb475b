// `scotch`: SCOTCH_graphMap onto a tree whose links cost what hops() says. Where a mask has taken cores away the tree
// is the whole one, and Scotch is told which of its leaves there are.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "mappers/foreign.h"
#include "mappers/mapper.h"
#include "mappers/refine.h"
#include "mappers/scotch.h"

#ifdef HEARTH_HAS_SCOTCH
#include <scotch.h>
#endif

namespace hearth::mappers {

ScotchTree scotch_tree(const Target& target) {
  ScotchTree tree;
  const std::vector<Level>& levels = target.levels();
  // The most parts that a unit of each level has, and the farthest that two of them are from each other.
  tree.sizes.assign(levels.size(), 0);
  tree.links.assign(levels.size(), 0);
  std::vector<std::vector<std::uint32_t>> rank(target.size(), std::vector<std::uint32_t>(levels.size(), 0));
  for (LeafIndex leaf = 0; leaf < target.size(); ++leaf) {
    for (std::size_t level = 0; level < levels.size(); ++level) {
      const auto same_parent = [&](LeafIndex other) {
        return level == 0 || target.leaves()[other].path[level - 1] == target.leaves()[leaf].path[level - 1];
      };
      LeafIndex first = leaf;
      while (first > 0 && same_parent(first - 1)) --first;
      rank[leaf][level] = target.leaves()[leaf].path[level] - target.leaves()[first].path[level];
      tree.sizes[level] = std::max(tree.sizes[level], static_cast<int>(rank[leaf][level]) + 1);
      for (LeafIndex other = first; other < leaf; ++other)
        if (target.leaves()[other].path[level] != target.leaves()[leaf].path[level])
          tree.links[level] = std::max(tree.links[level], static_cast<int>(target.hops(leaf, other)));
    }
  }
  for (int& link : tree.links) link = std::max(link, 1);
  for (LeafIndex leaf = 0; leaf < target.size(); ++leaf) {
    int number = 0;
    for (std::size_t level = 0; level < levels.size(); ++level)
      number = number * tree.sizes[level] + static_cast<int>(rank[leaf][level]);
    tree.number.push_back(number);
  }
  return tree;
}

#ifdef HEARTH_HAS_SCOTCH
namespace {

static_assert(sizeof(SCOTCH_Num) == sizeof(int), "foreign.h makes 32-bit numbers");

/// The functions of the library that are used.
struct Functions {
  decltype(SCOTCH_graphInit)* graph_init;
  decltype(SCOTCH_graphExit)* graph_exit;
  decltype(SCOTCH_graphBuild)* graph_build;
  decltype(SCOTCH_graphMap)* graph_map;
  decltype(SCOTCH_archInit)* arch_init;
  decltype(SCOTCH_archExit)* arch_exit;
  decltype(SCOTCH_archTleaf)* arch_tleaf;
  decltype(SCOTCH_archSub)* arch_sub;
  decltype(SCOTCH_stratInit)* strat_init;
  decltype(SCOTCH_stratExit)* strat_exit;
  decltype(SCOTCH_randomReset)* random_reset;

  bool find(const ForeignLibrary& from) {
    return from.find("SCOTCH_graphInit", graph_init) && from.find("SCOTCH_graphExit", graph_exit) &&
           from.find("SCOTCH_graphBuild", graph_build) && from.find("SCOTCH_graphMap", graph_map) &&
           from.find("SCOTCH_archInit", arch_init) && from.find("SCOTCH_archExit", arch_exit) &&
           from.find("SCOTCH_archTleaf", arch_tleaf) && from.find("SCOTCH_archSub", arch_sub) &&
           from.find("SCOTCH_stratInit", strat_init) && from.find("SCOTCH_stratExit", strat_exit) &&
           from.find("SCOTCH_randomReset", random_reset);
  }
};

/// With several threads Scotch's results differ from run to run. Its own variable, for as long as this exists.
class OneThread {
 public:
  OneThread() : was_set_(std::getenv(kVariable) != nullptr) { setenv(kVariable, "1", 0); }
  ~OneThread() {
    if (!was_set_) unsetenv(kVariable);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  static constexpr const char* kVariable = "SCOTCH_PTHREAD_NUMBER";
  bool was_set_;
};

/// One run: what has been made is let go of in the opposite order.
class Run {
 public:
  explicit Run(const Functions& call) : call_(call) {
    call_.random_reset();  // the same input gives the same mapping
    good_ = call_.graph_init(&graph_) == 0 && call_.arch_init(&whole_) == 0 && call_.arch_init(&part_) == 0 &&
            call_.strat_init(&strategy_) == 0;
  }
  ~Run() {
    call_.strat_exit(&strategy_);
    call_.arch_exit(&part_);
    call_.arch_exit(&whole_);
    call_.graph_exit(&graph_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Numbers of leaves of `tree`, by thread; empty: Scotch has refused.
  std::vector<SCOTCH_Num> map(const CompressedGraph& input, const ScotchTree& tree, bool whole) {
    const auto vertices = static_cast<SCOTCH_Num>(input.load.size());
    std::vector<SCOTCH_Num> result(input.load.size(), 0);
    good_ = good_ && call_.arch_tleaf(&whole_, static_cast<SCOTCH_Num>(tree.sizes.size()), tree.sizes.data(),
                                      tree.links.data()) == 0;
    if (!whole) {
      good_ = good_ &&
              call_.arch_sub(&part_, &whole_, static_cast<SCOTCH_Num>(tree.number.size()), tree.number.data()) == 0;
    }
    good_ = good_ &&
            call_.graph_build(&graph_, 0, vertices, input.first.data(), input.first.data() + 1, input.load.data(),
                              nullptr, static_cast<SCOTCH_Num>(input.neighbour.size()), input.neighbour.data(),
                              input.edge_weight.data()) == 0 &&
            call_.graph_map(&graph_, whole ? &whole_ : &part_, &strategy_, result.data()) == 0;
    if (!good_) result.clear();
    return result;
  }

 private:
  const Functions& call_;
  SCOTCH_Graph graph_;
  SCOTCH_Arch whole_, part_;
  SCOTCH_Strat strategy_;
  bool good_ = false;
};

}  // namespace

Mapping map_scotch(const Graph& graph, const Target& target) {
  static const ForeignLibrary library{"libscotch-7.0.so", "libscotch.so"};
  static Functions functions;
  if (!library.is_open() || !functions.find(library))
    return Mapping::failure(not_installed("libscotch-7.0.so", "libscotch-7.0"));
  const ScotchTree tree = scotch_tree(target);
  const CompressedGraph input = compressed(graph);
  const OneThread one_thread;
  Run run(functions);
  const std::vector<SCOTCH_Num> numbers = run.map(input, tree, target.regular());
  if (numbers.empty()) return Mapping::failure("Scotch refuses the graph or the machine");
  std::vector<LeafIndex> leaf_of;
  for (const SCOTCH_Num number : numbers) {
    const auto at = std::find(tree.number.begin(), tree.number.end(), static_cast<int>(number));
    if (at == tree.number.end()) return Mapping::failure("Scotch has used a core that is not there");
    leaf_of.push_back(static_cast<LeafIndex>(at - tree.number.begin()));
  }
  if (graph.size() <= kMostRefined && target.size() <= kMostRefined)
    refine(Places(target), graph.edges, graph.load, leaf_of);
  Mapping mapping = one_each(leaf_of);
  if (!target.alike()) mapping.remark = "Scotch takes all cores for equally fast";
  return mapping;
}

#else

Mapping map_scotch(const Graph&, const Target&) { return Mapping::failure(not_built_in("scotch", "libscotch-dev")); }

#endif

}  // namespace hearth::mappers
