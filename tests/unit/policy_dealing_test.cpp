// When a dealing begins, what the next one inherits, and what a thief is told of far tasks.
#include "policy/dealing.h"

#include <gtest/gtest.h>

namespace hearth::policy {
namespace {

TEST(Dealing, BeginsWhenNobodyDealsAndNothingWaits) {
  EXPECT_TRUE(begins_dealing(0, 0));
  EXPECT_FALSE(begins_dealing(1, 0)) << "another member deals";
  EXPECT_FALSE(begins_dealing(0, 1)) << "what was dealt is not worked off";
}

TEST(Dealing, RemembersTheOneBeforeUnlessTasksReleasedOthers) {
  const Share last{.dealt = 16, .stolen = 3, .before = 99};
  EXPECT_EQ(next_share(last, false).before, 16);
  EXPECT_EQ(next_share(last, true).before, 0);
  EXPECT_EQ(next_share(last, false).has(), 0);
}

TEST(Dealing, IsMeasuredByTheOneBeforeWhileItGoesOn) {
  DealingNow now{.dealing = true};
  now.add({.dealt = 3, .before = 60}, 6);
  now.add({.dealt = 5, .before = 20}, 2);
  EXPECT_EQ(now.tasks(), 80);
  EXPECT_EQ(now.workers, 8);
  EXPECT_EQ(now.load(700).dealt, 80);
  EXPECT_EQ(now.load(700).task_time, 700u);
  now.dealing = false;
  EXPECT_EQ(now.tasks(), 8);
  now.add({.dealt = 1, .released = true}, 1);
  EXPECT_EQ(now.load(700).dealt, 0) << "nobody knows how many there will be";
  DealingNow first{.dealing = true};
  first.add({.dealt = 60}, 6);
  first.add({}, 2);
  EXPECT_EQ(first.load(700).dealt, 0) << "nor in the first, which may be in the order of its data";
  first.dealing = false;
  EXPECT_EQ(first.load(700).dealt, 60);
}

class Far : public testing::Test {
 protected:
  bool surplus() const { return far_tasks(now, victim, &own).surplus; }
  DealingNow now{.before = 256, .dealt = 256, .workers = 8};
  LocationNow victim{.share = {.dealt = 64}, .depth = 9, .workers = 1, .task_time = 500, .stake = 70};
  LocationNow own{.share = {.dealt = 20}, .workers = 1};
};

TEST_F(Far, TasksAreToldAsTheyAre) {
  const FarTasks far = far_tasks(now, victim, &own);
  EXPECT_EQ(far.depth, 9u);
  EXPECT_EQ(far.task_time, 500u);
  EXPECT_EQ(far.workers, 1u);
  EXPECT_EQ(far.stake, 70u);
  EXPECT_FALSE(far.dealing);
  EXPECT_TRUE(far.surplus);
}

TEST_F(Far, AThiefThatIsNowhereSeesNoSurplus) { EXPECT_FALSE(far_tasks(now, victim, nullptr).surplus); }

TEST_F(Far, WhileTasksAreDealtWhatIsToComeCounts) {
  now.dealing = true;
  victim.share = {.dealt = 10, .before = 64};
  EXPECT_TRUE(surplus()) << "it will have 64";
  own.share = {.dealt = 0, .before = 64};
  EXPECT_FALSE(surplus()) << "as many as the thief's";
}

TEST_F(Far, WhereTasksReleaseOthersThereIsNoSurplusWhileSomeAreDealt) {
  now.released = true;
  EXPECT_TRUE(surplus());
  now.dealing = true;
  EXPECT_FALSE(surplus());
}

TEST(CreationTime, IsTheMeanOfCreationsWithoutTasksInBetween) {
  CreationTime creation;
  EXPECT_EQ(creation.mean(), 0u) << "not known";
  creation.created(1'000'000, 5);
  creation.created(1'000'400, 5);
  EXPECT_EQ(creation.mean(), 400u);
  creation.created(9'000'000, 6);
  EXPECT_EQ(creation.mean(), 400u) << "it has run a task meanwhile";
  creation.created(9'000'400, 6);
  EXPECT_EQ(creation.mean(), 400u);
}

}  // namespace
}  // namespace hearth::policy
