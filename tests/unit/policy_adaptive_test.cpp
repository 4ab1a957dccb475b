// The policy `adaptive`: when it wants to be asked, where tasks go with the way and the wait in mind, and who
// may steal what. And the advice on distributions.
#include <gtest/gtest.h>

#include <vector>

#include "policy/advice.h"
#include "policy/policies.h"
#include "policy/shares.h"
#include "policy_machine.h"

namespace hearth::policy {
namespace {

using placement::Kind;

constexpr std::uint64_t kTask = 40 * tuning::kUs;
constexpr std::uint64_t kBytes = 128 << 10;

class Adaptive : public testing::Test {
 protected:
  Adaptive() : wait(8), guest_wait(8) {
    load.staffed = 0xff;
    load.wait = wait.data();
    load.guest_wait = guest_wait.data();
    load.task_time = kTask;
    load.create_time = 400;
    load.workers = 48;
    load.dealers = 1;
    load.stake = &stake;
  }

  static Need at(Location home, std::uint64_t bytes = kBytes) {
    Need need(8);
    need.read.at[home] = need.written.at[home] = bytes;
    return need;
  }
  Location deal(const Need& need, Location creator) { return adaptive.deal(machine, need, creator, load); }
  bool steals(const FarTasks& far, std::uint64_t idle_time) {
    const Idleness idle{
        .time = idle_time, .patience = tuning::kFirstPatience, .quiet_patience = tuning::kMostQuietPatience};
    return adaptive.may_steal_dealt(machine, 0, 1, far, idle);
  }

  EightNodes nodes{6};
  std::vector<std::uint64_t> wait, guest_wait;
  std::uint64_t stake = 0;
  MachineView machine = nodes.view;
  LoadView load;
};

// The reason comes from the code that decides, so here is only that there is one for each answer.
TEST_F(Adaptive, TellsWhyItHasDecided) {
  const auto why = [&](const Need& need, Location creator) { return adaptive.why(machine, need, creator, load); };
  EXPECT_EQ(why(at(3), 0), Why::dealt);
  EXPECT_EQ(why(at(3, 0), 0), Why::unknown_place);
  EXPECT_EQ(why(at(3, 64), 0), Why::small_gain);
  Need spread(8);
  for (Location n = 0; n < 8; ++n) spread.read.at[n] = kBytes;
  EXPECT_EQ(why(spread, 0), Why::evenly_far);
  load.dealers = 2;
  EXPECT_EQ(why(at(3), 3), Why::here_already);
  load.believes = false;
  EXPECT_EQ(why(at(3), 0), Why::no_slower);
  load.tries = true;
  EXPECT_EQ(why(at(3), 0), Why::tried);
}

TEST_F(Adaptive, TellsWhyItIsNotToBeAsked) {
  load.create_time = kTask;
  EXPECT_EQ(adaptive.why_not_asked(load, false), Why::creator_awaited);
  EXPECT_EQ(adaptive.why_not_asked(load, true), Why::in_cache);
  load.task_time = 100;
  EXPECT_EQ(adaptive.why_not_asked(load, false), Why::short_task);
  EXPECT_EQ(adaptive.why_not_asked(load, true), Why::short_task);
  load.task_time = 0;
  EXPECT_EQ(adaptive.why_not_asked(load, false), Why::untimed);
}

// Of any number of locations, also of such as do not fill a row of prices.
TEST_F(Adaptive, LeavesAPlaceWhereTasksWouldWaitOnMachinesOfEverySize) {
  for (Location count = 2; count <= placement::kMaxLocations; ++count) {
    const auto cells = static_cast<std::size_t>(count * count);
    std::vector<std::uint32_t> distance(cells, 20), hops(cells, 1), cores(count, 1);
    for (Location n = 0; n < count; ++n) {
      distance[n * count + n] = 10;
      hops[n * count + n] = 0;
    }
    std::vector<float> price(static_cast<std::size_t>(price_row(count) * price_row(count)));
    machine.locations = count;
    machine.distance = distance.data();
    machine.hops = hops.data();
    machine.cores = cores.data();
    fill_prices(machine, price.data());
    machine.price = price.data();
    wait.assign(count, 0);
    guest_wait.assign(count, 0);
    load.wait = wait.data();
    load.guest_wait = guest_wait.data();
    load.staffed = UINT64_MAX >> (64 - count);
    for (Location home = 0; home < count; ++home) {
      wait.assign(count, 0);
      Need need(count);
      need.read.add_known(home, kBytes);
      need.written.add_known(home, kBytes);
      EXPECT_EQ(deal(need, placement::kUnknown), home) << count;
      wait[home] = 1000 * kTask;
      const Location other = deal(need, placement::kUnknown);
      EXPECT_NE(other, home) << count;
      EXPECT_LT(other, count);
      EXPECT_GE(other, 0) << count;
    }
  }
}

TEST_F(Adaptive, IsToldWhatItNeeds) {
  EXPECT_TRUE(adaptive.weighs_load());
  EXPECT_TRUE(adaptive.shares_own_queues());
  EXPECT_FALSE(adaptive.deals_here_always());
  for (const TaskPolicy* other : {&locality, &work_stealing, &central, &home_cache}) {
    EXPECT_FALSE(other->weighs_load()) << other->name();
    EXPECT_FALSE(other->shares_own_queues()) << other->name();
  }
}

TEST_F(Adaptive, ATaskGoesToItsData) {
  for (Location home = 0; home < 8; ++home)
    for (Location creator = -1; creator < 8; ++creator) EXPECT_EQ(deal(at(home), creator), home);
  EXPECT_GT(stake, 0u) << "and what it would lose elsewhere is told";
}

TEST_F(Adaptive, WhatIsNotBelievedIsNotDealt) {
  Location home = kHere;
  load.home = &home;
  load.believes = false;
  EXPECT_EQ(deal(at(5), 0), kHere);
  EXPECT_EQ(home, 5) << "and where it would have been at home is told";
  load.tries = true;
  EXPECT_EQ(deal(at(5), 0), 5) << "but for one that is to show it";
  load.believes = true;
  EXPECT_EQ(deal(at(5), 0), kHere) << "and the other way round";
  machine.slowdown = 100;
  EXPECT_EQ(deal(at(5), 0), 5) << "an emulator's times show nothing";
}

TEST_F(Adaptive, ATaskThatIsAtHomeStaysInItsCreatorsQueueAmongSeveralCreators) {
  EXPECT_EQ(deal(at(3), 3), 3);
  load.dealers = 2;
  EXPECT_EQ(deal(at(3), 3), kHere);
  EXPECT_EQ(deal(at(3), 4), 3);
}

TEST_F(Adaptive, ATaskStaysThatHasNoDataOrHasItEverywhere) {
  EXPECT_EQ(deal(Need(8), 3), kHere);
  Need even(8);
  for (Location i = 0; i < 8; ++i) even.read.at[i] = kBytes;
  EXPECT_EQ(deal(even, 3), kHere);
  even.read.at[5] += kBytes / 8;
  EXPECT_EQ(deal(even, 3), kHere) << "nearly everywhere";
}

TEST_F(Adaptive, ATaskStaysThatGainsLittleOfItsTime) {
  EXPECT_EQ(deal(at(5), 0), 5);
  load.task_time = 1000 * kTask;
  EXPECT_EQ(deal(at(5), 0), kHere) << "it computes";
  load.task_time = kTask;
  EXPECT_EQ(deal(at(5, 64), 0), kHere) << "one line";
}

TEST_F(Adaptive, AtALocationWithMoreThanItsPartATaskIsSentToTheNext) {
  wait[4] = 100 * kTask;
  EXPECT_EQ(deal(at(4), 0), 5) << "the other die of the package";
  guest_wait[5] = 50 * kTask;
  const Location third = deal(at(4), 0);
  EXPECT_NE(third, 4);
  EXPECT_NE(third, 5);
  wait[4] = 2 * kTask;
  EXPECT_EQ(deal(at(4), 0), 4) << "by chance";
}

TEST_F(Adaptive, ATaskGoesToALocationThatThereIsHoweverLongTheWaits) {
  const std::vector<std::uint32_t> distance = {10, 16, 22, 16, 10, 16, 22, 16, 10};
  std::vector<float> price(64);
  machine.locations = 3;
  machine.distance = distance.data();
  fill_prices(machine, price.data());
  machine.price = price.data();
  Need need(3);
  need.read.at[1] = kBytes;
  load.staffed = 0b111;
  wait = guest_wait = {1'000'000'000'000, 2'000'000'000'000, 3'000'000'000'000};
  EXPECT_EQ(deal(need, 2), 0);
}

TEST_F(Adaptive, EqualWorkOnUnevenDataSpreads) {
  // A third of all tasks has its data at location 0, and the same were dealt before.
  constexpr std::int64_t kAll = 1920;
  std::vector<Share> shares(8);
  for (std::size_t i = 0; i < 8; ++i) shares[i].before = i == 0 ? kAll / 3 : kAll / 3 * 2 / 7;
  for (std::int64_t task = 0; task < kAll; ++task) {
    for (std::size_t i = 0; i < 8; ++i) {
      const Load here{.share = shares[i], .workers = 6};
      const Load::All all{.dealt = kAll, .workers = 48, .task_time = kTask};
      wait[i] = here.wait(all);
      guest_wait[i] = here.guest_wait(all);
    }
    const auto home = task < kAll / 3 ? Location{0} : static_cast<Location>(1 + task % 7);
    const Location where = deal(at(home), placement::kUnknown);
    ASSERT_NE(where, kHere);
    ++shares[static_cast<std::size_t>(where)].dealt;
  }
  for (const Share& share : shares) EXPECT_LE(share.dealt, kAll / 8 * 13 / 10);
}

TEST_F(Adaptive, NobodyIsAskedWhileTheCreatorIsWhatAllWaitFor) {
  EXPECT_TRUE(adaptive.asks(machine, load, 1));
  load.task_time = 47 * load.create_time;
  EXPECT_FALSE(adaptive.asks(machine, load, 1));
  load.dealers = 2;
  EXPECT_TRUE(adaptive.asks(machine, load, 1)) << "two create";
  load.dealers = 1;
  load.task_time = 0;
  EXPECT_FALSE(adaptive.asks(machine, load, 1)) << "many programs are over before a task has ended";
  EXPECT_TRUE(adaptive.asks(machine, load, tuning::kLargeUntimedBytes)) << "large ones pay at once";
  machine.slowdown = 100;
  EXPECT_TRUE(adaptive.asks(machine, load, tuning::kLargeUntimedBytes / 100)) << "where memory counts for more, smaller ones, too";
}

TEST_F(Adaptive, NobodyIsAskedAboutTasksThatDealingTakesLongerThan) {
  load.create_time = 1;
  load.task_time = 15 * tuning::kDealNs;
  EXPECT_FALSE(adaptive.asks(machine, load, 1));
  EXPECT_FALSE(adaptive.asks_released(machine, load, {.here = 0, .bytes = UINT64_MAX}));
  load.stake_here = tuning::kDealNs;
  EXPECT_TRUE(adaptive.asks(machine, load, 1)) << "elsewhere they would take longer";
  EXPECT_TRUE(adaptive.asks_released(machine, load, {.here = 0, .bytes = UINT64_MAX}));
}

// The next best place has neither its data nor its cache.
TEST_F(Adaptive, AReleasedTaskGoesToItsDataOrStays) {
  const Need need = at(3);
  load.released = true;
  EXPECT_EQ(deal(need, 0), 3);
  wait[3] = 100 * kTask;
  EXPECT_EQ(deal(need, 0), kHere);
  EXPECT_EQ(adaptive.why(machine, need, 0, load), Why::crowded);
  load.released = false;
  const Location next_best = deal(need, placement::kUnknown);
  EXPECT_NE(next_best, 3);
  EXPECT_GE(next_best, 0) << "what is created there has left nothing in a cache";
}

TEST_F(Adaptive, WhatEndsATaskKeepsWhatFollowsItInItsCache) {
  const std::vector<std::uint64_t> cache(8, 1 << 20);
  machine.cache_per_core = cache.data();
  EXPECT_FALSE(adaptive.asks_released(machine, load, {.here = 3, .bytes = cache[3]}));
  EXPECT_TRUE(adaptive.asks_released(machine, load, {.here = 3, .bytes = cache[3] + 1}));
  EXPECT_TRUE(adaptive.asks_released(machine, load, {.here = placement::kUnknown, .bytes = 1}))
      << "nobody knows whose cache that is";
  const std::uint64_t part = cache[3] / tuning::kPartOfSeveral;
  EXPECT_FALSE(adaptive.asks_released(machine, load, {.here = 3, .bytes = part, .of_several = true}));
  EXPECT_TRUE(adaptive.asks_released(machine, load, {.here = 3, .bytes = part + 1, .of_several = true}))
      << "the rest is where the others ended";
  load.task_time = 0;
  EXPECT_FALSE(adaptive.asks_released(machine, load, {.here = 3, .bytes = UINT64_MAX}))
      << "nobody knows how long they take";
}

TEST_F(Adaptive, OnlyLocationsWithMembersGetTasks) {
  load.staffed = 0b1010;
  for (Location home = 0; home < 8; ++home) {
    const Location where = deal(at(home), 1);
    EXPECT_TRUE(where == kHere || where == 1 || where == 3) << where;
  }
  load.staffed = 0;
  EXPECT_EQ(deal(at(2), 1), kHere);
}

TEST_F(Adaptive, FarTasksAreStolenForTheTimeThatTheyWouldWait) {
  FarTasks computing{.depth = 60, .task_time = kTask, .dealing = true, .workers = 6, .stake = kTask / 100};
  FarTasks moving{.depth = 60, .task_time = kTask, .dealing = true, .workers = 6, .stake = kTask};
  EXPECT_FALSE(steals(moving, 0)) << "tasks for it may be about to come";
  EXPECT_FALSE(steals(moving, 16 * kTask - 1));
  EXPECT_TRUE(steals(moving, 16 * kTask)) << "that is long enough";
  EXPECT_TRUE(steals(computing, kTask)) << "they lose little";
  moving.several_deal = computing.several_deal = true;
  EXPECT_TRUE(steals(moving, 0)) << "whoever deals works, too: nobody knows for whom";
  EXPECT_TRUE(steals(computing, 0));
  moving.depth = computing.depth = 6;
  EXPECT_TRUE(steals(computing, 0));
  EXPECT_FALSE(steals(moving, kTask)) << "the last would wait for one, and loses one and the theft";
  EXPECT_TRUE(steals(moving, 100 * kTask)) << "somebody there is stuck";
  computing.depth = moving.depth = 0;
  EXPECT_FALSE(steals(computing, 1000 * kTask));
  EXPECT_FALSE(steals(moving, 1000 * kTask));
  moving.depth = 1;
  moving.workers = 0;
  EXPECT_TRUE(steals(moving, 0)) << "nobody else will";
}

// Twelve tasks for eight workers begin together: the last four wait for a whole task, not for half of one.
TEST_F(Adaptive, TheLastOfARoundAreTakenIfTheyLoseLessThanATask) {
  FarTasks far{.depth = 4, .task_time = kTask, .several_deal = true, .workers = 8, .stake = kTask * 3 / 4};
  EXPECT_TRUE(steals(far, 0));
  far.stake = 2 * kTask;
  EXPECT_FALSE(steals(far, 0));
}

TEST_F(Adaptive, NoTaskIsLeftForEver) {
  for (const std::uint64_t time : {std::uint64_t{0}, std::uint64_t{1}, kTask, std::uint64_t{1} << 50})
    for (const std::uint64_t far_stake : {std::uint64_t{0}, kTask, std::uint64_t{1} << 50})
      EXPECT_TRUE(
          steals({.depth = 1, .task_time = time, .dealing = true, .workers = 6, .stake = far_stake}, 120 * tuning::kMs))
          << "after 100 ms, with tasks of " << time;
}

TEST(Loads, OnlyWhatIsBeyondAPartMakesWait) {
  const Load::All all{.dealt = 480, .workers = 48, .task_time = kTask};
  EXPECT_EQ((Load{.share = {.dealt = 60}, .workers = 6}.wait(all)), 0u);
  EXPECT_EQ((Load{.share = {.dealt = 73}, .workers = 6}.wait(all)), kTask);
  EXPECT_EQ((Load{.share = {.before = 73}, .workers = 6}.wait(all)), 0u);
  EXPECT_EQ((Load{.share = {.before = 73}, .workers = 6}.guest_wait(all)), kTask) << "they are yet to come";
  EXPECT_EQ(
      (Load{.share = {.dealt = 100}, .workers = 6}.wait({.dealt = 4 * 48 - 1, .workers = 48, .task_time = kTask})), 0u)
      << "too few to tell";
  EXPECT_EQ((Load{.share = {}, .depth = 12, .workers = 6}.queue(all)), 2 * kTask);
}

TEST(Loads, ACreatorThatLosesItsCpuIsNotSlow) {
  std::uint64_t mean = 0;
  for (int i = 0; i < 20; ++i) mean = mean_creation(mean, 1000);
  EXPECT_NEAR(static_cast<double>(mean), 1000, 10);
  EXPECT_LE(mean_creation(mean, 1'000'000'000), 1300u);
  EXPECT_LE(mean_creation(0, 1'000'000'000), tuning::kMostFirstCreationNs);
}

// ---- distributions

class Advice : public testing::Test {
 protected:
  Advice() {
    program.creating = 0.1;
    program.busy = 40;
    program.workers = 48;
    program.locations = 8;
    region.bytes = 64 << 20;
    region.part = 0.01;
    region.followed = 1;
  }
  ProgramUse program;
  RegionUse region;
};

TEST_F(Advice, OneAllocationInPartsIsCutIntoAsManyAsThereAreLocations) {
  EXPECT_EQ(advise(program, region), Kind::blocked);
}
TEST_F(Advice, ManyAllocationsAreDealtWhole) {
  region.part = 1;
  EXPECT_EQ(advise(program, region), Kind::coarse);
}
TEST_F(Advice, WhatTasksTouchFirstThemselvesIsLeftToThem) {
  region.touched_by_users = true;
  EXPECT_EQ(advise(program, region), Kind::standard);
}
TEST_F(Advice, WhatNobodyCanFollowIsServedByAll) {
  region.followed = 0.5;
  EXPECT_EQ(advise(program, region), Kind::fine);
  region.followed = 1;
  program.creating = 0.9;
  EXPECT_EQ(advise(program, region), Kind::fine) << "all wait for the creator";
}
TEST_F(Advice, WhatMostTasksUseAsAWholeIsNobodysOwn) {
  region.part = 1;
  region.main = 1;
  region.tasks = 0.3;
  EXPECT_EQ(advise(program, region), Kind::coarse);
  region.tasks = 0.9;
  EXPECT_EQ(advise(program, region), Kind::fine);
}
TEST_F(Advice, WhatManyTasksUseBesideTheirOwnIsServedByAll) {
  region.part = 1;
  region.tasks = 0.3;
  region.main = 0.5;
  EXPECT_EQ(advise(program, region), Kind::fine);
}
TEST_F(Advice, WhatOneLocationCanDoIsLeftToOne) {
  program.busy = 3;
  EXPECT_EQ(advise(program, region), Kind::nearest);
  program.creating = 0.9;
  EXPECT_EQ(advise(program, region), Kind::fine) << "it is only the creator that is slow";
}
TEST_F(Advice, HomeCachesDistributeByThemselves) {
  program.first_touch = false;
  EXPECT_EQ(advise(program, region), Kind::standard);
}

}  // namespace
}  // namespace hearth::policy
