// Places inside places, of modelled machines.
#include "placement/place_tree.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "topology/model.h"

namespace hearth::placement {
namespace {

struct Tree : PlaceTree {
  explicit Tree(const topology::Machine& machine, topology::Level finest = topology::thread_level)
      : memory(bytes_for(machine) / 8 + 1) {
    fill(machine, static_cast<std::int32_t>(machine.locations.size()), finest, memory.data());
  }
  std::vector<std::uint64_t> memory;
};

topology::Machine model(const std::string& name) {
  topology::LoadedMachine loaded = topology::load_model(HEARTH_SOURCE_DIR "/models/" + name + ".toml");
  EXPECT_TRUE(loaded.ok());
  return loaded.machine;
}

TEST(PlaceTree, LevelsThatCutNothingAreLeftOut) {
  const Tree tree(model("opteron-8347hex4"));
  ASSERT_EQ(tree.size(), 1 + 4 + 16);
  EXPECT_EQ(tree[kWholeMachine].inside, 4);
  EXPECT_EQ(tree[kWholeMachine].location, kUnknown);
  for (PlaceId node = 1; node <= 4; ++node) {
    EXPECT_EQ(tree[node].location, node - 1);
    EXPECT_EQ(tree[node].inside, 4);
    EXPECT_EQ(tree.place_of_location(node - 1), node);
  }
  EXPECT_EQ(tree[tree[1].first_inside].level, topology::core_level);
}

TEST(PlaceTree, EveryModelledMachineIsCutWithoutARest) {
  for (const char* name : {"epyc-9654x2-nps4", "epyc-nps4x2", "opteron-6172x4", "tilepro64", "xeon-spr-snc4x2"}) {
    const topology::Machine machine = model(name);
    for (const topology::Level finest : {topology::node_level, topology::core_level, topology::thread_level}) {
      const Tree tree(machine, finest);
      EXPECT_EQ(tree[kWholeMachine].cpus, static_cast<std::int32_t>(machine.usable.count()));
      for (PlaceId p = 0; p < tree.size(); ++p) {
        EXPECT_TRUE(tree.is_leaf(p) || tree[p].inside >= 2) << name << " " << p;
        std::int32_t cpus = 0;
        for (std::int32_t i = 0; i < tree[p].inside; ++i) {
          const PlaceId inner = tree[p].first_inside + i;
          cpus += tree[inner].cpus;
          EXPECT_EQ(tree[inner].parent, p);
          EXPECT_TRUE(tree.holds(p, inner));
          EXPECT_FALSE(tree.holds(inner, p));
        }
        EXPECT_EQ(cpus, tree.is_leaf(p) ? 0 : tree[p].cpus);
      }
      machine.usable.for_each([&](unsigned cpu) {
        const PlaceId leaf = tree.leaf_of_cpu(cpu);
        ASSERT_NE(leaf, kNoPlace);
        EXPECT_EQ(tree[leaf].location == kUnknown ? machine.location_of_cpu(cpu) : tree[leaf].location,
                  machine.location_of_cpu(cpu));
      });
    }
  }
}

TEST(PlaceTree, DistanceIsLevelsUpToTheFirstCommonPlace) {
  const Tree tree(model("opteron-8347hex4"));
  const PlaceId first = tree.leaf_of_cpu(0), near = tree.leaf_of_cpu(1), far = tree.leaf_of_cpu(15);
  EXPECT_EQ(tree.levels_apart(first, first), 0);
  EXPECT_EQ(tree.levels_apart(first, near), 1);
  EXPECT_EQ(tree.levels_apart(first, far), 2);
  EXPECT_EQ(tree.common(first, near), 1);
  EXPECT_EQ(tree.common(near, far), kWholeMachine);
  EXPECT_EQ(tree.inside_holding(kWholeMachine, far), 4);
}

TEST(PlaceTree, OnlyCpusThatMayBeUsedHaveAPlace) {
  topology::Machine machine = model("opteron-8347hex4");
  machine.restrict_to({4, 5, 9}, {}, {});
  const Tree tree(machine);
  EXPECT_EQ(tree[kWholeMachine].cpus, 3);
  EXPECT_EQ(tree[kWholeMachine].inside, 2);
  EXPECT_EQ(tree.leaf_of_cpu(0), kNoPlace);
  EXPECT_EQ(tree[tree.leaf_of_cpu(9)].cpus, 1);
  EXPECT_EQ(*tree.cpus(tree.leaf_of_cpu(9)), 9U);
}

}  // namespace
}  // namespace hearth::placement
