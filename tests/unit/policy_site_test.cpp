// Which distribution an allocation site's next block gets: from how its blocks were used, and from what was tried before.
#include <gtest/gtest.h>

#include "policy/site.h"
#include "policy/tuning.h"

namespace hearth::policy {
namespace {

using placement::Kind;

constexpr std::int32_t kLocations = 8;
constexpr std::uint32_t kWorkers = 48;

Kind next_of(const SiteUse& use) { return distribution_for(use, kLocations, kWorkers); }

// One array that its program fills before tasks work on its 64 parts.
SiteUse filled_by_one() {
  return {.blocks = 1, .bytes = 64 << 20, .placed = 1, .spread = 0, .uses = 640, .part = 16, .main = 500, .share = 1000,
          .followed = 1000};
}
SiteUse::Tried tried(std::uint64_t time, std::uint64_t local) { return {.uses = 640, .time = time, .local = local}; }

TEST(Site, OfWhichNothingIsKnownItIsLeftToTheSystem) {
  EXPECT_EQ(next_of({}), Kind::standard);
  SiteUse little = filled_by_one();
  little.uses = tuning::kKnownUses - 1;
  EXPECT_EQ(next_of(little), Kind::standard);
  EXPECT_EQ(distribution_for(filled_by_one(), 1, kWorkers), Kind::standard) << "there is nothing to distribute over";
}

TEST(Site, ThatOneThreadFillsAndTasksShareGetsAPartForEachLocation) {
  EXPECT_EQ(next_of(filled_by_one()), Kind::blocked);
}

TEST(Site, WhoseUsersTouchItFirstIsLeftAlone) {
  SiteUse use = filled_by_one();
  use.spread = 875;
  EXPECT_EQ(next_of(use), Kind::standard);
  use.tried[site_kind_index(Kind::standard)] = tried(10'000, 950);
  EXPECT_EQ(next_of(use), Kind::standard);
  use.tried[site_kind_index(Kind::standard)] = tried(10'000, 700);
  EXPECT_EQ(next_of(use), Kind::blocked) << "they do not come back to what they have touched";
}

TEST(Site, WhoseBlocksAreEachUsedWholeByFewTasksGetsThemInTurns) {
  SiteUse use = filled_by_one();
  use.blocks = 64;
  use.bytes = 1 << 20;
  use.part = 1000;
  use.share = 16;
  EXPECT_EQ(next_of(use), Kind::coarse);
}

TEST(Site, OfAProgramMostOfWhoseTasksNameNothingIsSpread) {
  SiteUse use = filled_by_one();
  use.followed = 400;
  EXPECT_EQ(next_of(use), Kind::fine);
}

TEST(Site, WhoseBlockAllTasksReadWholeIsSpread) {
  SiteUse use = filled_by_one();
  use.part = 1000;
  use.main = 300;
  EXPECT_EQ(next_of(use), Kind::fine);
}

TEST(Site, WhatSuitsIsKeptWhileTasksGainByIt) {
  SiteUse use = filled_by_one();
  use.tried[site_kind_index(Kind::standard)] = tried(10'000, 125);
  use.tried[site_kind_index(Kind::blocked)] = tried(7'000, 950);
  EXPECT_EQ(next_of(use), Kind::blocked);
}

TEST(Site, WhatSuitsIsGivenUpWhereTasksTakeLongerAndAreNoNearer) {
  SiteUse use = filled_by_one();
  use.tried[site_kind_index(Kind::standard)] = tried(10'000, 620);
  use.tried[site_kind_index(Kind::blocked)] = tried(13'000, 600);
  EXPECT_EQ(next_of(use), Kind::standard);
  use.tried[site_kind_index(Kind::blocked)] = tried(13'000, 900);
  EXPECT_EQ(next_of(use), Kind::blocked) << "a little longer, which other things may have caused";
  use.tried[site_kind_index(Kind::blocked)] = tried(16'000, 900);
  EXPECT_EQ(next_of(use), Kind::standard) << "much longer";
}

TEST(Site, WhereTasksDoNotGetToTheirDataAllMemoryIsTriedOnce) {
  SiteUse use = filled_by_one();
  use.tried[site_kind_index(Kind::standard)] = tried(20'000, 125);
  use.tried[site_kind_index(Kind::blocked)] = tried(10'000, 300);
  EXPECT_EQ(next_of(use), Kind::fine);
  use.tried[site_kind_index(Kind::fine)] = tried(9'500, 125);
  EXPECT_EQ(next_of(use), Kind::blocked) << "it gains nothing";
  use.tried[site_kind_index(Kind::fine)] = tried(7'000, 125);
  EXPECT_EQ(next_of(use), Kind::fine);
}

TEST(Site, AFewSlowTasksGiveNothingUp) {
  SiteUse use = filled_by_one();
  use.tried[site_kind_index(Kind::standard)] = tried(10'000, 620);
  use.tried[site_kind_index(Kind::blocked)] = {.uses = tuning::kKnownUses - 1, .time = 90'000, .local = 0};
  EXPECT_EQ(next_of(use), Kind::blocked);
}

TEST(Site, NumbersWithoutSenseStillGiveADistribution) {
  constexpr std::uint64_t kMost = UINT64_MAX;
  SiteUse use = {kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost};
  for (SiteUse::Tried& one : use.tried) one = {kMost, kMost, kMost};
  use = joined(use, use);
  EXPECT_NO_FATAL_FAILURE(site_kind_index(next_of(use)));
}

TEST(Site, NewUsesOutweighOldOnesSoon) {
  SiteUse old = filled_by_one(), now = filled_by_one();
  old.uses = 1'000'000'000;
  old.part = 1000;
  now.uses = 160;
  EXPECT_LT(joined(old, now).part, 120u);
  EXPECT_EQ(joined(old, now).blocks, 2u);
}

}  // namespace
}  // namespace hearth::policy
