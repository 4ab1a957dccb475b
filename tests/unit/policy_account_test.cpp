// What the tasks of a construct have shown: whether to go on asking where they should run, and whether to believe the answer.
#include <gtest/gtest.h>

#include "policy/account.h"

namespace hearth::policy {
namespace {

constexpr std::uint64_t kMuch = 2 * tuning::kSavedInDeals * tuning::kDealNs;

void decide(Account& account, int tasks, std::uint64_t saved) {
  for (int i = 0; i < tasks; ++i) account.decided(saved);
}
void end(Account& account, int tasks, bool at_home, std::uint64_t time, std::uint64_t foretold) {
  for (int i = 0; i < tasks; ++i) account.ended(at_home, time, foretold, static_cast<std::uint32_t>(i));
}
int asked(const Account& account, std::uint32_t tasks) {
  int count = 0;
  for (std::uint32_t turn = 0; turn < tasks; ++turn) count += account.asks(turn) == Asking::yes;
  return count;
}

TEST(Account, AsksAboutEachTaskWhileDealingSavesMoreThanItCosts) {
  Account account;
  EXPECT_EQ(asked(account, 160), 160) << "nobody knows yet";
  decide(account, 100, kMuch);
  EXPECT_EQ(asked(account, 160), 160);
}

TEST(Account, AsksRarelyWhereNothingIsSaved) {
  Account account;
  decide(account, tuning::kAskedAtFirst, 0);
  EXPECT_EQ(asked(account, 160), 160 / tuning::kAsksRarely);
}

TEST(Account, AsksAgainWhenTheFewThatItAsksAboutSave) {
  Account account;
  decide(account, 100, 0);
  decide(account, 3 * tuning::kSavedFollows, kMuch);
  EXPECT_EQ(asked(account, 160), 160);
}

TEST(Account, BelievesWhatNobodyHasSeen) {
  Account account;
  EXPECT_TRUE(account.believes());
  end(account, 100, true, 1000, 500);
  EXPECT_TRUE(account.believes()) << "no task has run elsewhere";
}

TEST(Account, BelievesWhileTasksTakeLongerElsewhere) {
  Account account;
  end(account, 10, true, 10'000, 5'000);
  end(account, 10, false, 13'000, 5'000);
  EXPECT_TRUE(account.believes());
}

TEST(Account, DoesNotBelieveWhenTasksTakeNoLongerElsewhere) {
  Account account;
  end(account, 10, true, 10'000, 5'000);
  end(account, 10, false, 10'100, 5'000);
  EXPECT_FALSE(account.believes());
  end(account, 400, false, 16'000, 5'000);
  EXPECT_TRUE(account.believes()) << "until they do";
}

// Of tasks that lost nothing elsewhere.
constexpr Experience kNothingLost = {.asked = 100, .saved = kMuch, .home = 100, .home_time = 10'000, .far = 100, .far_time = 10'000,
                                     .foretold = 5'000};

TEST(Account, WhatEarlierRunsDoubtedIsBelievedUntilItIsKnownHere) {
  Account account;
  account.begin_with(kNothingLost);
  EXPECT_TRUE(account.believes()) << "a file that is wrong would cost what dealing brings";
  EXPECT_EQ(asked(account, 160), 160) << "questions are asked as by a run that knows nothing";
  end(account, tuning::kKnownTimes, true, 10'000, 5'000);
  end(account, tuning::kKnownTimes, false, 13'000, 5'000);
  EXPECT_TRUE(account.believes()) << "what a run has seen itself counts alone";
  end(account, 100, false, 10'000, 5'000);
  EXPECT_FALSE(account.believes());
}

TEST(Account, WhatEarlierRunsDoubtedIsTriedAtOnce) {
  Account account;
  account.begin_with(kNothingLost);
  int tries = 0;
  for (std::uint32_t i = 0; i < tuning::kKnownTimes * tuning::kTriesAtFirst; ++i) {
    tries += account.tries(10);
    account.decided(kMuch);
  }
  EXPECT_EQ(tries, tuning::kKnownTimes);
}

TEST(Account, WhatEarlierRunsSawTooLittleOfIsNotTriedBefore) {
  Experience little = kNothingLost;
  little.far = tuning::kKnownTimes - 1;
  Account account;
  account.begin_with(little);
  int tries = 0;
  for (std::uint32_t i = 0; i < tuning::kKnownTimes * tuning::kTriesAtFirst; ++i) {
    tries += account.tries(10);
    account.decided(kMuch);
  }
  EXPECT_EQ(tries, 0);
}

TEST(Account, TellsWhatItHasSeenItself) {
  Account account;
  account.begin_with(kNothingLost);
  decide(account, 2, 400);
  end(account, 3, true, 10'000, 5'000);
  end(account, 1, false, 16'000, 5'000);
  const Experience seen = account.seen();
  EXPECT_EQ(seen.asked, 2u);
  EXPECT_EQ(seen.saved, 400u);
  EXPECT_EQ(seen.home, 3u);
  EXPECT_EQ(seen.home_time, 10'000u);
  EXPECT_EQ(seen.far, 1u);
  EXPECT_EQ(seen.far_time, 16'000u);
  EXPECT_EQ(seen.foretold, 5'000u);
}

TEST(Experience, FewTasksOfSeveralRunsAddUp) {
  const Experience run = {.asked = 3, .saved = 100, .home = 2, .home_time = 1'000, .far = 2, .far_time = 2'000, .foretold = 500};
  const Experience both = joined(run, run);
  EXPECT_EQ(both.asked, 6u);
  EXPECT_EQ(both.home, 4u);
  EXPECT_EQ(both.far, 4u);
  EXPECT_EQ(both.home_time, 1'000u);
  EXPECT_EQ(both.far_time, 2'000u);
  EXPECT_EQ(both.saved, 100u);
  EXPECT_EQ(both.foretold, 500u);
}

TEST(Experience, NewOutweighsOldSoon) {
  const Experience old = {.home = 1'000'000, .home_time = 1'000'000}, now = {.home = tuning::kOldTasks, .home_time = 1'000};
  EXPECT_EQ(joined(old, now).home_time, 500'500u) << "a million tasks of earlier runs count as few";
}

TEST(Experience, NumbersWithoutSenseDoNotOverflow) {
  constexpr std::uint64_t kMost = UINT64_MAX;
  const Experience most = {kMost, kMost, kMost, kMost, kMost, kMost, kMost};
  const Experience both = joined(most, most);
  EXPECT_EQ(both.home, 2'000'000u);
  EXPECT_EQ(both.home_time, 1'000'000'000'000u);
}

TEST(Account, SomeTasksGoWhereTheyWouldNot) {
  Account account;
  constexpr std::uint32_t kWorkers = 10;
  const auto tried = [&](std::uint32_t tasks) {
    int tries = 0;
    for (std::uint32_t i = 0; i < tasks; ++i) {
      tries += account.tries(kWorkers);
      account.decided(kMuch);
    }
    return tries;
  };
  EXPECT_EQ(tried(tuning::kTriesAfter * kWorkers), 0) << "not while each worker has had few";
  EXPECT_EQ(tried(tuning::kKnownTimes * tuning::kTriesAtFirst), tuning::kKnownTimes);
  EXPECT_EQ(tried(8 * tuning::kTriesLater), 8) << "fewer when enough have";
}

TEST(Account, WhatIsKnownWellIsNotedRarely) {
  Account account;
  end(account, tuning::kKnownWell, true, 1'000, 1'000);
  end(account, tuning::kKnownWell, false, 2'000, 1'000);
  for (int i = 0; i < 1000; ++i) account.ended(false, 1'000, 1'000, 1);  // not its turn
  EXPECT_TRUE(account.believes());
  for (int i = 0; i < 1000; ++i) account.ended(false, 1'000, 1'000, 0);
  EXPECT_FALSE(account.believes());
}

}  // namespace
}  // namespace hearth::policy
