// Tasks without clauses: which words of their arguments tell tasks apart, whether places matter to them, and what follows.
#include "policy/silent.h"

#include <gtest/gtest.h>

namespace hearth::policy {
namespace {

constexpr std::uint64_t kArray = 0x7f0000000000, kBlock = 128 * 1024, kLong = 100'000;
constexpr std::int32_t kNodes = 8;

bool mapped(std::uint64_t) { return true; }
bool unmapped(std::uint64_t) { return false; }

TEST(ArgumentWord, AddressesThatDifferTellTasksApart) {
  ArgumentWord word;
  for (std::uint64_t i = 0; i < 8; ++i) word.saw(kArray + i * kBlock, mapped);
  EXPECT_TRUE(word.is_sign());
  EXPECT_EQ(word.reach(), kBlock);
}

TEST(ArgumentWord, TheSameAddressForAllTellsNothing) {
  ArgumentWord word;
  for (int i = 0; i < 8; ++i) word.saw(kArray, mapped);
  EXPECT_TRUE(word.is_address());
  EXPECT_FALSE(word.is_sign());
}

TEST(ArgumentWord, NumbersAreNoAddresses) {
  ArgumentWord number, real, large;
  for (std::uint64_t i = 0; i < 8; ++i) {
    number.saw(i, mapped);
    real.saw(0x3ff0000000000000 + i, mapped);
    large.saw(1'000'000 * i + 1'000'000, unmapped);
  }
  EXPECT_FALSE(number.is_sign());
  EXPECT_FALSE(real.is_sign());
  EXPECT_FALSE(large.is_sign()) << "nothing is mapped there";
}

TEST(ArgumentWord, AsksOfFewWhetherTheyAreMapped) {
  ArgumentWord word;
  int asked = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) word.saw(kArray + i * kBlock, [&](std::uint64_t) { return ++asked != 0; });
  EXPECT_EQ(asked, static_cast<int>(tuning::kTellingWords));
}

TEST(SilentConstruct, TasksWithTheSameArgumentsAreNotToldApart) {
  SilentConstruct construct;
  EXPECT_FALSE(construct.tells_tasks_apart(SilentConstruct::kWords)) << "nothing was seen";
  for (std::uint64_t i = 0; i < 64; ++i) {
    construct.words[0].saw(kArray, mapped);
    construct.words[1].saw(i % 16, unmapped);
  }
  EXPECT_FALSE(construct.tells_tasks_apart(0));
  EXPECT_FALSE(construct.tells_tasks_apart(1));
  EXPECT_TRUE(construct.tells_tasks_apart(2));
}

TEST(ArgumentWord, FindsTheLengthOfBlocksThatComeInAnyOrder) {
  ArgumentWord word;
  for (std::uint64_t i = 0; i < 64; ++i) word.saw(kArray + i * 23 % 64 * kBlock, mapped);
  EXPECT_EQ(word.reach(), kBlock);
}

TEST(ArgumentWord, OfTwoNumbersInAWordTheOneThatCountsRoundsIsNoName) {
  ArgumentWord word;
  const auto value = [](std::uint64_t round, std::uint64_t i) { return round << 32 | i; };
  for (std::uint64_t i = 0; i < 256; ++i) word.saw(value(i / 64, i % 64), unmapped);
  EXPECT_EQ(word.name_of(value(4, 7)), word.name_of(value(5, 7)));
  EXPECT_NE(word.name_of(value(4, 7)), word.name_of(value(4, 8)));
}

TEST(ArgumentWord, AnAddressThatIsTheSameForManyIsPartOfTheName) {
  ArgumentWord word;
  for (std::uint64_t i = 0; i < 256; ++i) word.saw(kArray, mapped);
  EXPECT_NE(word.name_of(kArray), word.name_of(kArray + kBlock)) << "another array with the same numbers";
}

TEST(Comparison, FewTasksTellNothing) {
  Comparison comparison;
  for (int i = 0; i < 5; ++i) comparison.ran(true, 1'000), comparison.ran(false, 2'000);
  EXPECT_EQ(comparison.answer(), Comparison::Answer::unknown);
  comparison.ran(true, 1'000), comparison.ran(false, 2'000);
  EXPECT_EQ(comparison.answer(), Comparison::Answer::longer_elsewhere);
}

TEST(Comparison, TasksOfVeryDifferentLengthsAreCompared) {
  Comparison comparison;
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t time = 1'000u << i / 2 % 6;
    comparison.ran(i % 2 == 0, i % 2 == 0 ? time : time * 2);
  }
  EXPECT_EQ(comparison.answer(), Comparison::Answer::longer_elsewhere);
}

TEST(Comparison, ChanceIsNotTakenForAPlace) {
  Comparison comparison;
  std::uint64_t random = 1;
  for (int i = 0; i < 2'000; ++i) {
    random = hash_word(random, 1);
    comparison.ran(i % 8 == 0, 1'000 + (random >> 32) % 9'000);
    ASSERT_NE(comparison.answer(), Comparison::Answer::longer_elsewhere) << i;
  }
  EXPECT_EQ(comparison.answer(), Comparison::Answer::the_same);
}

TEST(Comparison, WhatIsHardlyLongerDoesNotMatter) {
  Comparison comparison;
  for (int i = 0; i < 2'000; ++i) comparison.ran(i % 2 == 0, i % 2 == 0 ? 10'000 : 10'200);
  EXPECT_EQ(comparison.answer(), Comparison::Answer::the_same);
}

TEST(RunMemory, ATaskBelongsWhereItRan) {
  RunMemory runs;
  const std::uint64_t one = hash_word(0, 1), other = hash_word(0, 2);
  EXPECT_EQ(runs.where(one), placement::kUnknown);
  runs.ran(one, 5);
  EXPECT_EQ(runs.where(one), 5);
  EXPECT_EQ(runs.where(other), placement::kUnknown);
}

TEST(RunMemory, ChanceDoesNotMoveIt) {
  RunMemory runs;
  const std::uint64_t one = hash_word(0, 1);
  runs.ran(one, 5);
  runs.ran(one, 3);
  runs.ran(one, 2);
  EXPECT_EQ(runs.where(one), 5);
  runs.ran(one, 5);
  runs.ran(one, 3);
  runs.ran(one, 3);
  EXPECT_EQ(runs.where(one), 5) << "in a row";
  runs.ran(one, 3);
  EXPECT_EQ(runs.where(one), 3);
}

// A construct of which `tasks` were watched, made by `seen` from their number; how many it took until it was followed.
template <class SeenOf>
int followed_after(SilentConstruct& construct, int tasks, SeenOf seen_of) {
  for (int i = 0; i < tasks; ++i)
    if (construct.watched(seen_of(i))) return i + 1;
  return 0;
}

// Tasks run anywhere, and take `far` elsewhere.
auto by_arguments(std::uint64_t far, bool clock_tells = true) {
  return [=](int i) {
    SilentConstruct::Seen seen;
    seen.by_arguments = i % kNodes;
    seen.here = i / kNodes % kNodes;
    seen.time = seen.here == seen.by_arguments ? kLong : far;
    seen.clock_tells = clock_tells;
    seen.locations = kNodes;
    return seen;
  };
}
auto by_runs(std::uint64_t far, bool clock_tells = true) {
  return [=](int i) {
    SilentConstruct::Seen seen;
    if (i >= 64) seen.by_runs = i % kNodes;
    seen.here = i / kNodes % kNodes;
    seen.time = seen.here == seen.by_runs ? kLong : far;
    seen.clock_tells = clock_tells;
    seen.locations = kNodes;
    return seen;
  };
}

TEST(SilentConstruct, IsFollowedWhereTasksTakeLongerAwayFromWhatTheirArgumentsPointTo) {
  SilentConstruct construct;
  const int after = followed_after(construct, 1000, by_arguments(kLong * 3 / 2));
  EXPECT_GT(after, 0);
  EXPECT_LE(after, 128) << "by the third round of 64 tasks";
  EXPECT_EQ(construct.state(), SilentConstruct::State::followed);
  EXPECT_EQ(construct.sign(), Sign::arguments);
}

TEST(SilentConstruct, IsFollowedWhereTasksTakeLongerAwayFromWhereTheyRan) {
  SilentConstruct construct;
  EXPECT_GT(followed_after(construct, 1000, by_runs(kLong * 3 / 2)), 0);
  EXPECT_EQ(construct.sign(), Sign::runs);
}

TEST(SilentConstruct, IsDroppedWherePlacesDoNotMatter) {
  SilentConstruct construct;
  EXPECT_EQ(followed_after(construct, 10'000, by_arguments(kLong)), 0);
  EXPECT_EQ(construct.state(), SilentConstruct::State::dropped);
}

TEST(SilentConstruct, IsDroppedWhereNothingRepeats) {
  SilentConstruct construct;
  const auto nothing = [](int i) {
    SilentConstruct::Seen seen;
    seen.here = i % kNodes;
    seen.time = kLong;
    return seen;
  };
  EXPECT_EQ(followed_after(construct, 10'000, nothing), 0);
  EXPECT_EQ(construct.state(), SilentConstruct::State::dropped);
}

TEST(SilentConstruct, ShortTasksAreDroppedAfterFew) {
  SilentConstruct construct;
  const auto brief = [](int i) { return SilentConstruct::Seen{.by_arguments = i % kNodes, .here = 0, .time = 1'000}; };
  EXPECT_EQ(followed_after(construct, tuning::kTimedAtFirst, brief), 0);
  EXPECT_EQ(construct.state(), SilentConstruct::State::dropped);
}

TEST(SilentConstruct, WhereNothingIsFarASignIsTakenForWhatItSays) {
  SilentConstruct construct;
  EXPECT_GT(followed_after(construct, 100, by_arguments(kLong, false)), 0);
  EXPECT_EQ(construct.sign(), Sign::arguments);
  SilentConstruct other;
  EXPECT_GT(followed_after(other, 200, by_runs(kLong, false)), 0);
  EXPECT_EQ(other.sign(), Sign::runs);
}

TEST(SilentConstruct, WhereParentsRanIsNoSignUnlessTheClockSaysSo) {
  SilentConstruct construct;
  const auto recursive = [](int i) {
    SilentConstruct::Seen seen = by_runs(kLong, false)(i);
    if (i % 2 == 0) seen.time = 0;
    return seen;
  };
  EXPECT_EQ(followed_after(construct, 10'000, recursive), 0);
}

TEST(SilentConstruct, DataInFewPlacesIsNoSignUnlessTheClockSaysSo) {
  for (const int places : {1, 2}) {
    SilentConstruct construct;
    const auto few_places = [places](int i) {
      return SilentConstruct::Seen{
          .by_arguments = i % places, .here = i % kNodes, .time = kLong, .clock_tells = false, .locations = kNodes};
    };
    EXPECT_EQ(followed_after(construct, 10'000, few_places), 0) << places;
  }
}

TEST(SilentConstruct, IsWatchedAnewAfterManyTasks) {
  SilentConstruct construct;
  followed_after(construct, 10'000, by_arguments(kLong));
  ASSERT_EQ(construct.state(), SilentConstruct::State::dropped);
  std::uint32_t looks = 1;
  while (!construct.comes_again()) ++looks;
  EXPECT_EQ(looks, tuning::kDroppedLooks);
  EXPECT_GT(followed_after(construct, 1000, by_arguments(2 * kLong)), 0) << "what was seen before does not count";
}

}  // namespace
}  // namespace hearth::policy
