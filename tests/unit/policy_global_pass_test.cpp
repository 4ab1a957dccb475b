// When balance is looked at, what counts as load, and what becomes of a move that was no good.
#include "policy/global_pass.h"

#include "policy_bubbles.h"

namespace hearth::policy {
namespace {

using Turn = GlobalPass::Turn;

constexpr double kLong = 2 * GlobalPass::kLeastApartNs;

Turn look(GlobalPass& pass, double ns, float unevenness, bool blamed = false) {
  return pass.begin({.passes = pass.passes_to_next(), .mean_ns = ns, .slowest_has_moved = blamed}, unevenness);
}

// Moves at once, and lets the pass go by in which that is done.
GlobalPass on_trial(double ns) {
  GlobalPass pass;
  EXPECT_EQ(look(pass, ns, 2), Turn::look);
  pass.moved(0.01 * ns);
  EXPECT_EQ(look(pass, 10 * ns, 1), Turn::none) << "the pass that moves pages tells nothing";
  return pass;
}

TEST(GlobalPass, EvenLoadIsNeverPlannedFor) {
  GlobalPass pass;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(look(pass, kLong, 1 + 0.001F * static_cast<float>(i)), Turn::none);
}

TEST(GlobalPass, TheSameLoadIsPlannedForOnceMoreWhenTwiceAsManyPassesHaveBeenSeen) {
  GlobalPass pass;
  std::vector<int> at;
  for (int i = 1; i <= 64; ++i)
    if (look(pass, kLong, 1.5F + 0.001F * static_cast<float>(i % 7)) == Turn::look) at.push_back(i);
  EXPECT_EQ(at, (std::vector{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(look(pass, kLong, 2), Turn::look) << "and at once when it changes";
}

TEST(GlobalPass, LooksAtShortPassesAreFarApart) {
  GlobalPass pass;
  std::uint64_t passes = 0;
  int looks = 0;
  for (; passes < 1'000'000; ++looks) {
    passes += pass.passes_to_next();
    look(pass, 1000, 1);
  }
  EXPECT_LT(looks, 1.1e9 / GlobalPass::kLeastApartNs + 30) << "of a second";
  EXPECT_NEAR(pass.passes_to_next() * 1000, GlobalPass::kLeastApartNs, 1000);
  look(pass, kLong, 1);
  EXPECT_EQ(pass.passes_to_next(), 1U) << "long ones are looked at one by one";
}

TEST(GlobalPass, LooksThatTakeLongAreFartherApart) {
  GlobalPass pass;
  for (int i = 0; i < 20; ++i) {
    look(pass, 1e6, 1);
    pass.took(1e6);
  }
  EXPECT_EQ(pass.passes_to_next(), 100U);
}

TEST(GlobalPass, PlansCountOnAsManyPassesAsWereSeen) {
  GlobalPass pass;
  for (int i = 0; i < 5; ++i) look(pass, kLong, 1);
  EXPECT_EQ(pass.horizon(), 5);
  for (int i = 0; i < 5000; ++i) look(pass, kLong, 1);
  EXPECT_EQ(pass.horizon(), GlobalPass::kLongestHorizon);
}

TEST(GlobalPass, WhatGainsStays) {
  GlobalPass pass = on_trial(kLong);
  for (int i = 0; i < 10; ++i) EXPECT_NE(look(pass, 0.9 * kLong, 1, true), Turn::undo);
  EXPECT_FALSE(pass.on_trial());
}

TEST(GlobalPass, WhatDoesHarmGoesBackAndTheNextTryComesLater) {
  GlobalPass pass = on_trial(kLong);
  EXPECT_EQ(look(pass, 1.05 * kLong, 1, true), Turn::none) << "one pass may be chance";
  EXPECT_EQ(look(pass, 1.05 * kLong, 1, true), Turn::undo);
  std::vector<int> rests;
  for (int round = 0; round < 4; ++round) {
    int rest = 0;
    while (look(pass, kLong, 2 + static_cast<float>(round % 2)) != Turn::look) ASSERT_LT(++rest, 100);
    rests.push_back(rest);
    pass.moved(0.01 * kLong);
    look(pass, kLong, 1);
    EXPECT_EQ(look(pass, 2 * kLong, 1, true), Turn::undo) << "this is plain";
  }
  EXPECT_GE(rests.front(), 3);
  for (std::size_t i = 1; i < rests.size(); ++i) EXPECT_GE(rests[i], 2 * rests[i - 1]);
}

TEST(GlobalPass, MovesMayTakeASmallPartOfAllTimeAndLessAfterTheyDidHarm) {
  GlobalPass pass;
  for (int i = 0; i < 99; ++i) look(pass, kLong, 1);
  ASSERT_EQ(look(pass, kLong, 2), Turn::look);
  const double all = GlobalPass::kFreeNs + GlobalPass::kMostSpent * 100 * kLong;
  EXPECT_NEAR(pass.budget_ns(), all / 2, 1) << "to go and to come back";
  pass.moved(all / 4);
  look(pass, kLong, 1);
  GlobalPass good = pass;
  EXPECT_EQ(look(pass, 1.5 * kLong, 1, true), Turn::undo);
  EXPECT_NEAR(pass.budget_ns(), (GlobalPass::kFreeNs + GlobalPass::kMostSpent * 102.5 * kLong - all / 2 - 0.5 * kLong) / 2, 1);
  for (int i = 0; i < 2; ++i) look(good, 0.8 * kLong, 1, true);
  EXPECT_NEAR(good.budget_ns(), (GlobalPass::kFreeNs + GlobalPass::kMostSpent * 102.6 * kLong - (all / 4 - 0.4 * kLong)) / 2, 1);
}

TEST(GlobalPass, PassesThatTakeLongerElsewhereAreNotBlamedOnTheMove) {
  GlobalPass pass = on_trial(kLong);
  look(pass, 1.5 * kLong, 1, false);
  EXPECT_EQ(look(pass, 1.5 * kLong, 1, false), Turn::none) << "the work has grown";
}

TEST(GlobalPass, ATrialOfSomebodyWhoEndsIsForgotten) {
  GlobalPass pass = on_trial(kLong);
  pass.forget_trial();
  EXPECT_FALSE(pass.on_trial());
  EXPECT_EQ(look(pass, kLong, 3), Turn::look);
}

// ---- Loads.

TEST(Unevenness, IsTheHeaviestLocationByItsCpus) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  EXPECT_EQ(unevenness(program.standing()), 1) << "nobody";
  for (Location node = 0; node < 4; ++node)
    program.distribute("cache", program.team(2, BubbleTree::kRoot, node == 0 ? 2.5F : 0.5F),
                       bench.places.place_of_location(node));
  program.tree.sum_up();
  EXPECT_FLOAT_EQ(unevenness(program.standing()), 2.5F);
}

TEST(Weights, OfHintsArePassesByBytes) {
  Bench bench({.packages = 2, .cores = 4});
  Program program(bench);
  const EntityId one = program.team(2), other = program.team(2);
  program.tree.attachment(program.give(one, 1 << 20, 0)).passes = 14;
  program.tree.attachment(program.give(other, 1 << 20, 1)).passes = 7;
  program.distribute("memory+cache");
  EXPECT_TRUE(weigh_by_hints(program.tree, program.place.data()));
  for (const EntityId thread : program.threads(one)) EXPECT_FLOAT_EQ(program.tree[thread].load, 1);
  for (const EntityId thread : program.threads(other)) EXPECT_FLOAT_EQ(program.tree[thread].load, 0.5F);
  EXPECT_FLOAT_EQ(program.tree[one].load, 2);
  const EntityId silent = program.team(1);
  program.distribute("cache", silent);
  EXPECT_FALSE(weigh_by_hints(program.tree, program.place.data())) << "of one thread nobody knows anything";
  EXPECT_FLOAT_EQ(program.tree[one].load, 2) << "so all count alike";
  EXPECT_FLOAT_EQ(program.tree[other].load, 2);
}

TEST(Weights, OfTimeGoToTheMemoryThatIsAttached) {
  Bench bench({.packages = 2, .cores = 4});
  Program program(bench);
  const EntityId team = program.team(2), bare = program.team(1);
  const auto shared = program.give(team, 64 << 20, 0);
  const auto own = program.give(program.inside(team, 0), 16 << 20, 0);
  program.distribute("cache", team, bench.places.place_of_location(0));
  program.distribute("cache", bare, bench.places.place_of_location(1));
  const double half = bench.costs.read_ns(0, 0, 32 << 20), alone = bench.costs.read_ns(0, 0, 16 << 20);
  program.tree[program.inside(team, 0)].work_ns = static_cast<float>(3 * (half + alone));
  program.tree[program.inside(team, 1)].work_ns = static_cast<float>(3 * half);
  program.tree[program.inside(bare, 0)].work_ns = 1000;
  weigh_by_time(program.tree, bench.places, bench.costs, program.place.data());
  EXPECT_NEAR(program.tree.attachment(shared).passes, 3, 0.01F);
  EXPECT_NEAR(program.tree.attachment(own).passes, 3, 0.01F);
  for (int i = 0; i < 2; ++i) EXPECT_LT(program.tree[program.inside(team, i)].work_ns, 0.01 * half) << "nothing is left";
  EXPECT_EQ(program.tree[program.inside(bare, 0)].work_ns, 1000) << "it has no memory";
}

// ---- Groups of teams that share nodes.

TEST(Balance, AGroupWithMemoryLeavesAsAWholeOrNotAtAll) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  std::vector<EntityId> teams;
  for (int team = 0; team < 8; ++team) {
    teams.push_back(program.team(2));
    program.tree.attachment(program.give(teams.back(), 32 << 20, team / 2, placement::Access::read_write)).passes =
        team == 0 ? 14 : 4;
    program.distribute("cache", teams.back(), bench.places.place_of_location(team / 2));
  }
  ASSERT_TRUE(weigh_by_hints(program.tree, program.place.data()));
  std::vector<std::uint64_t> memory(relocation_bytes(program.tree, bench.places) / 8 + 1);
  std::vector<PlaceId> place = program.place;
  std::vector<Location> target(static_cast<std::size_t>(program.tree.attachments()));
  const Relocation plan = plan_relocation(find_bubbles("memory+cache"), program.standing(), BubbleTree::kRoot,
                                          {.passes = 50, .only_balances = true, .fed_cpus = 0.5F}, place.data(),
                                          target.data(), memory.data());
  EXPECT_EQ(plan.action, Action::steal_group);
  EXPECT_EQ(plan.then.threads, 2);
  EXPECT_EQ(plan.then.pages, bench.costs.pages(32 << 20)) << "one team's";
  EXPECT_LT(plan.then.pass_ns, plan.now.pass_ns);
  const auto location = [&](int team) {
    return bench.places[place[static_cast<std::size_t>(teams[static_cast<std::size_t>(team)])]].location;
  };
  for (int team = 0; team < 8; ++team)
    EXPECT_EQ(target[static_cast<std::size_t>(team)], location(team) == team / 2 ? kStays : location(team)) << team;
  program.place = place;
  EXPECT_NEAR(unevenness(program.standing()), 28.F / 21, 0.01F) << "no whole teams are more even";
}

TEST(Balance, WithoutBandwidthsHalfOfTheCoresKeepAMemoryBusy) {
  Bench bench({.packages = 2, .cores = 4});
  std::vector<std::uint64_t> memory(1 << 16);
  const auto pass_ns = [&](int threads, float fed) {
    Program program(bench);
    const EntityId team = program.team(threads);
    for (const EntityId thread : program.threads(team)) program.give(thread, 1 << 26, 0);
    program.distribute("cache", team, bench.places.place_of_location(0));
    program.tree.sum_up();
    const std::vector<Location> stay(16, kStays);
    return predict(program.standing(), {program.place.data(), stay.data()}, Mover::members, memory.data(), fed).pass_ns;
  };
  EXPECT_DOUBLE_EQ(pass_ns(4, 0), pass_ns(1, 0));
  EXPECT_DOUBLE_EQ(pass_ns(2, 0.5F), pass_ns(1, 0.5F));
  EXPECT_NEAR(pass_ns(4, 0.5F), 2 * pass_ns(1, 0.5F), 0.01 * pass_ns(1, 0.5F));
  bench.costs.set_memory_gbs(0, 1e6);
  EXPECT_DOUBLE_EQ(pass_ns(4, 0.5F), pass_ns(1, 0.5F)) << "it is known to be enough";
}

}  // namespace
}  // namespace hearth::policy
