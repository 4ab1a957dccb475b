// What became of a construct's tasks, in words: the verdict follows the rule that decided, and the estimate its formula.
#include <gtest/gtest.h>

#include <string>

#include "policy/tuning.h"
#include "runtime/tools/explain_counts.h"

namespace hearth::rt::explain {
namespace {

using policy::Why;

constexpr Dealing kAdaptive{"adaptive", 8, true, true};
constexpr std::uint64_t kUs = tuning::kUs;

std::string text(const Sums& sums, const Dealing& dealing = kAdaptive) {
  char out[8192];
  return {out, construct_text(sums, dealing, "app+0x10", out, sizeof out)};
}

Sums made(std::uint64_t tasks) {
  Sums sums;
  sums.n[kCreated] = sums.n[kRan] = sums.n[kTimed] = tasks;
  sums.n[kTime] = tasks * 100 * kUs;
  return sums;
}
void decide(Sums& sums, Why why, std::uint64_t tasks) {
  sums.n[kWhy + static_cast<std::size_t>(why)] += tasks;
  if (why < Why::has_priority) sums.n[kAsked] += tasks;
}
void run(Sums& sums, Count where, std::uint64_t tasks, std::uint64_t each) {
  sums.n[where] = sums.n[where + 1] = tasks;
  sums.n[where + 2] = tasks * each;
}
bool says(const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; }

Sums dealt(std::uint64_t home, std::uint64_t away) {
  Sums sums = made(1000);
  decide(sums, Why::dealt, 1000);
  run(sums, kHome, 900, home);
  run(sums, kFar, 100, away);
  sums.n[kHelped] = 900;
  return sums;
}

TEST(Explain, OfTasksThatAreDealtHowMuchLongerTheyTakeElsewhere) {
  const std::string all = text(dealt(100 * kUs, 141 * kUs));
  EXPECT_TRUE(says(all, "task at app+0x10\n  dealt: tasks take 41 % longer elsewhere\n")) << all;
  EXPECT_TRUE(says(all, "1000 tasks, mean 100 us, 100 ms in all")) << all;
  EXPECT_TRUE(says(all, "asked about 1000, of which 1000 dealt")) << all;
  EXPECT_TRUE(says(all, "ran at home: 900, mean 100 us; elsewhere: 100, mean 141 us")) << all;
}

// 900 tasks at home, of which chance would have sent one in eight there, save 41 us each; each dealing costs 300 ns.
TEST(Explain, WhatIsWonIsWhatTasksAtHomeSaveLessWhatDealingCosts) {
  const std::string all = text(dealt(100 * kUs, 141 * kUs));
  EXPECT_TRUE(says(all, "won 32 ms of all threads' time (an estimate): saved 32 ms, dealing has cost 300 us")) << all;
  const std::string lost = text(dealt(100 * kUs, 100 * kUs));
  EXPECT_TRUE(says(lost, "lost 300 us of all threads' time (an estimate): saved 0 ns, dealing has cost 300 us")) << lost;
  EXPECT_TRUE(says(lost, "dealt: but tasks that ran elsewhere took no longer")) << lost;
}

TEST(Explain, NoEstimateWhereNothingRanElsewhere) {
  Sums sums = dealt(100 * kUs, 0);
  run(sums, kFar, 0, 0);
  const std::string all = text(sums);
  EXPECT_TRUE(says(all, "won or lost: not known, since none was timed elsewhere")) << all;
  EXPECT_TRUE(says(all, "dealt: foretold to save ")) << all;
}

TEST(Explain, EachReasonNotToDealIsTold) {
  for (std::size_t i = static_cast<std::size_t>(Why::tried); i < policy::kWhys; ++i) {
    Sums sums = made(100);
    decide(sums, static_cast<Why>(i), 100);
    const std::string words = policy::reason_text(static_cast<Why>(i));
    EXPECT_FALSE(words.empty());
    EXPECT_TRUE(says(text(sums), "\n  not dealt: " + words + "\n")) << text(sums);
  }
}

TEST(Explain, TheReasonOfMostComesFirstAndAllAreListed) {
  Sums sums = made(100);
  decide(sums, Why::untimed, 5);
  decide(sums, Why::saves_little, 90);
  decide(sums, Why::small_gain, 5);
  const std::string all = text(sums);
  EXPECT_TRUE(says(all, "\n  not dealt: saves less than eight dealings each\n")) << all;
  EXPECT_TRUE(says(all, "left where they were made: 5, the best place saves less than dealing costs; 5, no task had ended yet"))
      << all;
}

TEST(Explain, SomeDealt) {
  Sums sums = made(100);
  decide(sums, Why::dealt, 60);
  decide(sums, Why::short_task, 40);
  EXPECT_TRUE(says(text(sums), "\n  60 % dealt: foretold to save ")) << text(sums);
  decide(sums, Why::no_slower, 200);
  EXPECT_TRUE(says(text(sums), "\n  20 % dealt, most others not: tasks that ran elsewhere took no longer\n")) << text(sums);
}

TEST(Explain, WhereNobodyWasAskedWhyNot) {
  Sums sums = made(10);
  EXPECT_TRUE(says(text(sums, {"adaptive", 1, false, true}), "not dealt: one location only\n"));
  EXPECT_TRUE(says(text(sums, {"central", 8, false, false}), "not dealt: the policy deals nothing\n"));
  EXPECT_TRUE(says(text(sums), "not dealt: they ran where they were made, at once\n"));
  sums.n[kSilent] = 10;
  EXPECT_TRUE(says(text(sums), "not dealt: no depend or affinity says what they touch\n"));
}

TEST(Explain, APolicyWithoutAccountsSaysSo) {
  const std::string all = text(dealt(100 * kUs, 141 * kUs), {"locality", 8, true, false});
  EXPECT_TRUE(says(all, "dealt: tasks take 41 % longer elsewhere; policy locality keeps no account, and deals whatever that "
                        "brings\n"))
      << all;
}

TEST(Explain, CutsWhatDoesNotFit) {
  char out[64];
  const std::string place(1000, 'x');
  EXPECT_EQ(construct_text(dealt(1, 2), kAdaptive, place.c_str(), out, sizeof out), sizeof out - 1);
}

}  // namespace
}  // namespace hearth::rt::explain
