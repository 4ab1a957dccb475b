// Costs of memory, pages and threads: where they come from, and what corrects them.
#include "placement/cost.h"

#include <gtest/gtest.h>

#include <memory>

#include "topology/model.h"

namespace hearth::placement {
namespace {

topology::Machine model(const std::string& name) {
  topology::LoadedMachine loaded = topology::load_model(HEARTH_SOURCE_DIR "/models/" + name + ".toml");
  EXPECT_TRUE(loaded.ok());
  return loaded.machine;
}

std::unique_ptr<CostModel> costs_of(const topology::Machine& machine) {
  auto costs = std::make_unique<CostModel>();
  costs->fill(machine, static_cast<std::int32_t>(machine.locations.size()));
  return costs;
}

TEST(CostModel, MeasuredLatenciesOfAModelAreItsLines) {
  const auto costs = costs_of(model("opteron-8347hex4"));  // table 3 of the paper
  EXPECT_FLOAT_EQ(costs->read_line_ns(0, 0), 83);
  EXPECT_FLOAT_EQ(costs->read_line_ns(0, 3), 117);
  EXPECT_FLOAT_EQ(costs->write_line_ns(2, 1), 208);
  EXPECT_FLOAT_EQ(costs->read_ns(0, 0, 6400), 100 * 83 / costs->lines_at_a_time);
}

TEST(CostModel, WithoutLatenciesTheFirmwaresDistancesScaleLocalMemory) {
  const topology::Machine machine = model("xeon-spr-snc4x2");
  ASSERT_TRUE(machine.read_latency_ns.empty());
  const auto costs = costs_of(machine);
  EXPECT_FLOAT_EQ(costs->read_line_ns(0, 0), 80);
  EXPECT_FLOAT_EQ(costs->read_line_ns(0, 1), 80 * 1.2F);
  EXPECT_FLOAT_EQ(costs->read_line_ns(0, 7), 80 * 2.1F);
  EXPECT_FLOAT_EQ(costs->write_line_ns(0, 7), 80 * 2.1F * 1.7F);
}

TEST(CostModel, MovingPagesIsABaseAndAPriceForEach) {
  const auto costs = costs_of(model("opteron-8347hex4"));
  costs->set_migration(120'000, 11'000);  // the paper's
  EXPECT_FLOAT_EQ(costs->migrate_ns(0, 1, 1000), 120'000 + 1000 * 11'000.0);
  EXPECT_EQ(costs->migrate_ns(2, 2, 1000), 0) << "nothing moves";
  EXPECT_EQ(costs->migrate_ns(0, 1, 0), 0);
  EXPECT_EQ(costs->pages(4096), 1U);
  EXPECT_EQ(costs->pages(4097), 2U);
}

TEST(CostModel, NextTouchIsATrapAndACallForEveryUnit) {
  const auto costs = costs_of(model("opteron-8347hex4"));
  EXPECT_FLOAT_EQ(costs->touch_ns(0, 1, 160), 10 * (12'000 + 15 * 270 + costs->migrate_ns(0, 1, 16)));
  EXPECT_GT(costs->touch_ns(0, 1, 4096), costs->migrate_ns(0, 1, 4096));
  costs->touched_page_ns = 13'000;
  EXPECT_FLOAT_EQ(costs->touch_ns(0, 1, 100), 1'300'000);
}

TEST(CostModel, TheDefaultHasNoStepWhereSizeClassesMeet) {
  const auto costs = costs_of(model("opteron-8347hex4"));
  for (const std::uint64_t pages : {64U, 512U}) {
    const double below = costs->migrate_ns(0, 1, pages - 1), at = costs->migrate_ns(0, 1, pages);
    EXPECT_GT(at, below);
    EXPECT_LT(at, below * 1.1);
  }
  EXPECT_GT(costs->migrate_ns(0, 3, 512), costs->migrate_ns(0, 1, 512)) << "the copy comes from farther away";
}

TEST(CostModel, OwnCallsCorrectThePricesOfTheirPairAndClass) {
  const auto costs = costs_of(model("opteron-8347hex4"));
  const double before = costs->migrate_ns(0, 1, 4096), small = costs->migrate_ns(0, 1, 8);
  for (int call = 0; call < 50; ++call) costs->observe_migration(1, 0, 4096, 3 * before);
  EXPECT_NEAR(costs->migrate_ns(0, 1, 4096), 3 * before, 0.02 * before);
  EXPECT_NEAR(costs->migrate_ns(0, 1, 8192) / costs->migrate_ns(0, 1, 4096), 2, 0.01);
  EXPECT_EQ(costs->migrate_ns(0, 1, 8), small) << "another size class";
  EXPECT_NEAR(costs->migrate_ns(2, 3, 4096) / costs->planned_migrate_ns(2, 3, 4096), 3, 0.1)
      << "a pair of which nobody knows anything is like the others";
}

TEST(CostModel, OneCallThatTookForEverChangesAPriceTwiceAtMost) {
  const auto costs = costs_of(model("opteron-8347hex4"));
  const double before = costs->migrate_ns(0, 1, 4096);
  costs->observe_migration(0, 1, 4096, 1e6 * before);
  EXPECT_LE(costs->migrate_ns(0, 1, 4096), 2.001 * before);
  for (int call = 0; call < 1000; ++call) costs->observe_migration(0, 1, 4096, 1e6 * before);
  EXPECT_LE(costs->migrate_ns(0, 1, 4096), 8.001 * before);
  for (int call = 0; call < 1000; ++call) costs->observe_migration(0, 1, 4096, 1e-6 * before);
  EXPECT_GE(costs->migrate_ns(0, 1, 4096), 0.124 * before);
  const double now = costs->migrate_ns(0, 1, 4096);
  costs->observe_migration(0, 1, 4096, 0);
  costs->observe_migration(0, 0, 4096, 5);
  EXPECT_EQ(costs->migrate_ns(0, 1, 4096), now) << "a clock that stood still, pages that did not move";
}

}  // namespace
}  // namespace hearth::placement
