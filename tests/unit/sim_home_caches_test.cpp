// Home caches in the simulator: what they hold at the start, the mark that says which bytes decide, and
// vicinities that are not left.
#include <gtest/gtest.h>

#include "policy/policies.h"
#include "sim/engine/engine.h"
#include "sim/workload/generators.h"
#include "topology/model.h"

namespace hearth::sim {
namespace {

struct Tiles {
  topology::Machine machine;
  Parameters parameters;

  Tiles() {
    const std::string path = HEARTH_SOURCE_DIR "/models/tilepro64.toml";
    machine = topology::load_model(path).machine;
    parameters = load_parameters(path, machine).parameters;
  }
  Result run(const char* benchmark, std::vector<std::string> settings, std::int32_t vicinity,
             std::function<void(const Decision&)> log = {}) const {
    settings.insert(settings.begin(), "inputs=manycore");
    RunOptions options;
    options.policy = &policy::home_cache;
    options.distribution.kind = placement::Kind::coarse;
    options.vicinity = vicinity;
    options.log = std::move(log);
    return simulate(generate(*find_generator(benchmark), settings).workload, machine, parameters, options);
  }
};

TEST(HomeCaches, WhatFitsIntoThemIsThereAtTheStart) {
  const Tiles tiles;
  const Result small = tiles.run("map", {"kib=32"}, 1);
  EXPECT_EQ(small.cache_hits, small.bytes());
  // More than a home holds.
  const Result large = tiles.run("map", {"kib=128"}, 1);
  EXPECT_LT(large.cache_hits, large.bytes());
}

TEST(HomeCaches, NobodyStealsBeyondItsVicinity) {
  const Tiles tiles;
  // All of one allocation is at one home: only it and those that may steal from it run tasks.
  for (const std::int32_t vicinity : {1, 4, 8, 16}) {
    const Result result = tiles.run("reduction", {}, vicinity);
    std::int32_t busy = 0;
    for (const WorkerResult& worker : result.workers) busy += worker.tasks > 1;
    EXPECT_LE(busy, vicinity + 1);  // and the one that creates them
    EXPECT_EQ(result.unfinished, 0u);
  }
  EXPECT_GT(tiles.run("reduction", {}, 0).far_steals, 0u);
}

TEST(HomeCaches, TheMarkedBytesDecideAlone) {
  const Tiles tiles;
  std::uint64_t decided = 0, away = 0;
  tiles.run("sparselu", {"size=288", "hint=1"}, 1, [&](const Decision& decision) {
    if (!decision.need.decided) return;
    ++decided;
    away += decision.chosen != policy::kHere && decision.need.written.at[decision.chosen] == 0;
  });
  EXPECT_GT(decided, 0u);
  EXPECT_EQ(away, 0u);
}

}  // namespace
}  // namespace hearth::sim
