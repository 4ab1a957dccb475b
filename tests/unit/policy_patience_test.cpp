// Patience with far tasks: the rules one by one, and what comes of them on modelled machines, where one
// creator deals tasks while workers take them.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "policy/policies.h"
#include "policy/shares.h"
#include "policy_machine.h"

namespace hearth::policy {
namespace {

using tuning::kMs;
constexpr std::uint64_t kEver = 1'000'000 * kMs;

bool may_steal(const FarTasks& far, const Idleness& idle) {
  static const EightNodes machine(6);
  return locality.may_steal_dealt(machine.view, 0, 1, far, idle);
}

TEST(Surplus, IsMoreThanThePartOfTheLocationAndMoreThanTheThiefHas) {
  const auto surplus = [](std::int64_t victims, std::int64_t thiefs) {
    return has_surplus({.all = 256,
                        .workers = 8,
                        .victims = victims,
                        .victim_workers = 1,
                        .thiefs = thiefs,
                        .thief_workers = 1});
  };
  EXPECT_FALSE(surplus(34, 8));
  EXPECT_TRUE(surplus(35, 8));
  EXPECT_TRUE(surplus(64, 32)) << "the creator runs less than its part, and somebody has to";
  EXPECT_TRUE(surplus(40, 35));
  EXPECT_FALSE(surplus(40, 36)) << "an eighth of a part, no more";
  EXPECT_FALSE(
      has_surplus({.workers = 8, .victims = 40, .victim_workers = 1, .thiefs = 2, .thief_workers = 1}))
      << "nobody knows how many there will be";
}

TEST(Surplus, IsMeasuredByHowManyWorkAtALocation) {
  Shares shares{
      .all = 240, .workers = 12, .victims = 80, .victim_workers = 4, .thiefs = 30, .thief_workers = 2};
  EXPECT_FALSE(has_surplus(shares));
  shares.victim_workers = 2;
  EXPECT_TRUE(has_surplus(shares));
  shares.thief_workers = 1;
  EXPECT_TRUE(has_surplus(shares));
  shares.thiefs = 38;
  EXPECT_FALSE(has_surplus(shares));
}

TEST(Surplus, TakesMoreWhereTasksReleaseOthers) {
  Shares shares{.all = 256,
                .workers = 8,
                .victims = 36,
                .victim_workers = 1,
                .thiefs = 8,
                .thief_workers = 1,
                .released = true};
  EXPECT_FALSE(has_surplus(shares));
  shares.victims = 37;
  EXPECT_TRUE(has_surplus(shares));
  shares.thiefs = 32;
  EXPECT_FALSE(has_surplus(shares)) << "the thief has had its part";
}

TEST(Surplus, OfADealingThatGoesOnIsWhatTheOneBeforeTells) {
  const Share unknown{.dealt = 10, .stolen = 2}, early{.stolen = 3, .before = 16},
      late{.dealt = 20, .before = 16};
  EXPECT_EQ(unknown.has(), 12);
  EXPECT_EQ(unknown.expects(), 12);
  EXPECT_EQ(early.has(), 3);
  EXPECT_EQ(early.expects(), 19) << "its own are still to come";
  EXPECT_EQ(late.expects(), 20);
}

TEST(Stealing, ASurplusIsFreeAtOnceAboveTheThreshold) {
  const EightNodes machine(6);
  const auto may = [&machine](std::uint32_t depth) {
    return locality.may_steal_dealt(machine.view, 0, 1, {.depth = depth, .task_time = kMs, .surplus = true},
                                    {.patience = 8});
  };
  EXPECT_FALSE(may(6));
  EXPECT_TRUE(may(7));
}

TEST(Stealing, NobodyStealsDealtTasksAtOnce) {
  EXPECT_FALSE(may_steal({.depth = 1000}, {.since_dealing = kEver}));
  EXPECT_FALSE(may_steal({.depth = 1000}, {.time = tuning::kBrieflyNs - 1, .since_dealing = kEver}));
  EXPECT_TRUE(may_steal({.depth = 1000}, {.time = tuning::kBrieflyNs, .since_dealing = kEver}));
}

TEST(Stealing, FewTasksAreLeftToTheirWorkersAsLongAsTheseMakeProgress) {
  EXPECT_FALSE(may_steal({.depth = 6, .task_time = kMs}, {.time = 3 * kMs, .since_dealing = kEver, .patience = 8}))
      << "no more than the threshold";
  EXPECT_TRUE(may_steal({.depth = 7, .task_time = kMs}, {.time = 3 * kMs, .since_dealing = kEver, .patience = 8}));
  EXPECT_TRUE(may_steal({.depth = 1, .task_time = kMs}, {.time = 4 * kMs, .since_dealing = kEver, .patience = 8}));
  EXPECT_FALSE(may_steal({.depth = 0, .task_time = kMs}, {.time = kEver, .since_dealing = kEver, .patience = 8}));
}

TEST(Stealing, WhileTasksAreDealtWaitingIsInProportionToTheirLength) {
  EXPECT_FALSE(
      may_steal({.depth = 1000, .task_time = kMs}, {.time = 8 * kMs - 1, .since_dealing = kMs / 2, .patience = 8}));
  EXPECT_TRUE(may_steal({.depth = 1000, .task_time = kMs}, {.time = 8 * kMs, .since_dealing = kMs / 2, .patience = 8}));
  EXPECT_TRUE(may_steal({.depth = 1000, .task_time = kMs}, {.time = kMs, .since_dealing = kMs, .patience = 8}))
      << "for as long as a task takes none has been dealt";
  EXPECT_TRUE(may_steal({.depth = 1000, .task_time = kMs}, {.time = kMs, .since_dealing = kMs / 2}))
      << "it has never paid";
}

TEST(Stealing, WhileACreatorCouldGoOnItMayPauseForTenMilliseconds) {
  const EightNodes machine(6);
  const auto may = [&machine](std::uint64_t task_time, const Idleness& idle) {
    return locality.may_steal_dealt(machine.view, 0, 1, {.depth = 9, .task_time = task_time, .dealing = true},
                                    idle);
  };
  EXPECT_FALSE(may(kMs, {.time = 3 * kMs, .since_dealing = 9 * kMs, .patience = 8}));
  EXPECT_TRUE(may(kMs, {.time = 11 * kMs, .since_dealing = 11 * kMs, .patience = 32}));
  EXPECT_FALSE(may(0, {.time = 7 * kMs, .patience = 8})) << "how long tasks take is not known";
  EXPECT_TRUE(may(0, {.time = 9 * kMs, .patience = 8}));
}

TEST(Stealing, WhileNoneAreDealtThereIsQuietPatience) {
  EXPECT_FALSE(may_steal({.depth = 1000, .task_time = kMs / 2},
                         {.time = 2 * kMs - 1, .since_dealing = kEver, .patience = 32, .quiet_patience = 4}));
  EXPECT_TRUE(may_steal({.depth = 1000, .task_time = kMs / 2},
                        {.time = 2 * kMs, .since_dealing = kEver, .patience = 32, .quiet_patience = 4}));
  EXPECT_TRUE(
      may_steal({.depth = 1000, .task_time = kMs / 2}, {.time = kMs / 2, .since_dealing = kEver, .patience = 32}))
      << "it has never paid";
  EXPECT_TRUE(may_steal({.depth = 1000, .task_time = 9 * kMs},
                        {.time = 6 * kMs, .since_dealing = kEver, .patience = 32, .quiet_patience = 4}))
      << "5 ms at most";
}

TEST(Stealing, NobodyStealsFromThoseWhoKeepUpWithTheCreator) {
  EXPECT_FALSE(
      may_steal({.depth = 33, .task_time = kMs}, {.time = 99 * kMs, .patience = 8, .created = 99, .left = 33}));
  EXPECT_TRUE(may_steal({.depth = 34, .task_time = kMs}, {.time = 99 * kMs, .patience = 8, .created = 99, .left = 34}));
  EXPECT_TRUE(may_steal({.depth = 9, .task_time = kMs},
                        {.time = 99 * kMs, .patience = 8, .created = tuning::kConclusiveTasks - 1, .left = 9}))
      << "too few to know";
  EXPECT_TRUE(may_steal({.depth = 33, .task_time = kMs},
                        {.time = 99 * kMs, .since_dealing = kMs, .patience = 8, .created = 99, .left = 33}))
      << "no more are being dealt";
}

TEST(Stealing, BeforeAnyTaskTimeIsKnownThereIsPatience) {
  EXPECT_FALSE(may_steal({.depth = 1000}, {.time = 8 * tuning::kBrieflyNs - 1, .patience = 2}));
  EXPECT_TRUE(may_steal({.depth = 1000}, {.time = 8 * tuning::kBrieflyNs, .patience = 2})) << "1 ms each";
}

TEST(Stealing, NoWaitIsLongerThanATenthOfASecond) {
  for (const std::uint64_t task_time : {std::uint64_t{0}, kMs, kEver})
    EXPECT_TRUE(may_steal(
        {.depth = 1, .task_time = task_time},
        {.time = 105 * kMs, .patience = tuning::kMostPatience, .quiet_patience = tuning::kMostQuietPatience}));
}

// A worker that finds nothing near it, and looks as often as it may.
struct Waiting {
  // `dealing`: every look sees one more task created, and dealt to somebody else.
  Idleness wait(std::uint64_t time, std::uint32_t dealt, bool dealing) {
    Idleness idle;
    for (const std::uint64_t end = now + time; now < end; ++now) {
      if (patience.rests(now)) now = std::min(end, now + tuning::kFirstPauseNs);
      if (patience.rests(now)) continue;
      idle = patience.look(now, dealt, created += dealing, served);
      patience.rest(now);
    }
    return idle;
  }
  Patience patience;
  std::uint64_t now = 7 * kMs;
  std::uint32_t created = 1;
  std::uint64_t served = 0;
};

TEST(PatienceOfAWorker, CountsFromWhenThereIsSomethingToLeaveAlone) {
  Waiting worker;
  EXPECT_EQ(worker.wait(5 * kMs, 0, false).time, 0u);
  EXPECT_NEAR(static_cast<double>(worker.wait(5 * kMs, 1, false).time), 5 * kMs, kMs / 2);
  EXPECT_NEAR(static_cast<double>(worker.wait(5 * kMs, 1, false).time), 10 * kMs, kMs / 2);
  ++worker.served;
  EXPECT_NEAR(static_cast<double>(worker.wait(5 * kMs, 1, false).time), 5 * kMs, kMs / 2);
}

TEST(PatienceOfAWorker, KnowsHowLongAgoATaskWasDealt) {
  Waiting worker;
  EXPECT_EQ(worker.wait(5 * kMs, 1, true).since_dealing, 0u);
  EXPECT_NEAR(static_cast<double>(worker.wait(3 * kMs, 1, false).since_dealing), 3 * kMs, kMs / 2);
}

TEST(PatienceOfAWorker, LooksEverMoreSeldom) {
  Waiting worker;
  worker.wait(tuning::kBrieflyNs, 1, false);
  EXPECT_LE(worker.patience.looks(), 9u);
  worker.wait(100 * tuning::kLongestPauseNs, 1, false);
  EXPECT_NEAR(worker.patience.looks(), 109, 3);
  worker.patience.found_near(worker.now);
  EXPECT_EQ(worker.patience.looks(), 0u);
  EXPECT_FALSE(worker.patience.rests(worker.now));
}

TEST(PatienceOfAWorker, DoesNotCountTimeInWhichItHadNoCpu) {
  Waiting worker;
  worker.wait(kMs, 1, false);
  worker.now += 1000 * kMs;
  EXPECT_LE(worker.wait(kMs, 1, false).time, 3 * kMs);
}

TEST(PatienceOfAWorker, IsNotRestoredByAStolenTask) {
  Waiting worker;
  worker.patience.steal(worker.wait(3 * kMs, 9, false));
  ++worker.served;
  EXPECT_GT(worker.wait(2 * kMs, 9, false).time, 4 * kMs);
}

TEST(PatienceOfAWorker, GrowsWhereEnoughWorkComesAndShrinksWhereLittleDoes) {
  Waiting worker;
  const auto wait_and_work = [&worker](std::uint64_t work) {
    worker.wait(kMs, 9, true);
    worker.patience.found_near(worker.now);
    worker.now += work;
    ++worker.served;
    return worker.wait(1, 9, true).patience;
  };
  EXPECT_EQ(wait_and_work(5 * kMs), 2 * tuning::kFirstPatience);
  for (int i = 0; i < 9; ++i) wait_and_work(5 * kMs);
  EXPECT_EQ(wait_and_work(5 * kMs), tuning::kMostPatience);
  for (std::uint32_t patience = tuning::kMostPatience; patience != 0; patience /= 2)
    EXPECT_EQ(wait_and_work(3 * kMs), patience / 2);
  EXPECT_EQ(wait_and_work(5 * kMs), 1u);
}

TEST(PatienceOfAWorker, ShrinksWhereAllThatIsDealtIsDealtToOthers) {
  Waiting worker;
  for (std::uint32_t patience = tuning::kFirstPatience; patience != 0; patience /= 4) {
    const Idleness idle = worker.wait(kMs, 9, true);
    EXPECT_EQ(idle.patience, patience);
    worker.patience.steal(idle);
    worker.patience.steal(idle);  // goes on: that is no second disappointment
    worker.served += 2;
    worker.wait(kMs, 0, false);
  }
}

TEST(PatienceOfAWorker, IsNotLostByStealingAfterTheDealing) {
  Waiting worker;
  worker.wait(kMs, 9, true);
  worker.patience.steal(worker.wait(3 * kMs, 9, false));
  ++worker.served;
  worker.wait(kMs, 0, false);
  EXPECT_EQ(worker.wait(kMs, 9, true).patience, tuning::kFirstPatience);
}

TEST(PatienceOfAWorker, GrowsWhereTheOthersKeptUp) {
  Waiting worker;
  const Idleness idle = worker.wait(20 * kMs, 9, true);
  EXPECT_EQ(idle.left, 9u);
  EXPECT_TRUE(idle.others_keep_up()) << idle.created;
  worker.patience.found_near(worker.now);  // and little work comes
  ++worker.served;
  EXPECT_EQ(worker.wait(1, 9, true).patience, 2 * tuning::kFirstPatience);
}

TEST(PatienceOfAWorker, CountsWhatIsDealtDuringAWait) {
  Waiting worker;
  EXPECT_GE(worker.wait(20 * kMs, 9, true).created, tuning::kConclusiveTasks);
  ++worker.served;
  EXPECT_EQ(worker.wait(kMs, 9, false).created, 0u);
}

TEST(PatienceOfAWorker, QuietPatienceEndsWhereItMustStealAndComesBackWhereItNeedNot) {
  Waiting worker;
  for (std::uint32_t quiet_patience = tuning::kMostQuietPatience; quiet_patience != 0; quiet_patience /= 2) {
    const Idleness idle = worker.wait(kMs, 9, false);
    EXPECT_EQ(idle.quiet_patience, quiet_patience);
    worker.patience.steal(idle);
    worker.patience.steal(idle);  // goes on: once a wait
    worker.served += 2;
    worker.wait(kMs, 0, false);
  }
  for (std::uint32_t quiet_patience = 0; quiet_patience <= tuning::kMostQuietPatience; ++quiet_patience) {
    EXPECT_EQ(worker.wait(kMs, 9, false).quiet_patience, quiet_patience);
    worker.patience.found_near(worker.now);
    ++worker.served;
  }
  EXPECT_EQ(worker.wait(kMs, 9, false).quiet_patience, tuning::kMostQuietPatience);
}

TEST(TurnOfACreator, ComesWhenItHasCreatedForATaskTime) {
  CreatorsTurn turn;
  std::uint64_t now = 7 * kMs;
  turn.created(now, kMs);
  turn.is_over(now, kMs);
  for (int i = 0; i < 9; ++i) turn.created(now += kMs / 10, kMs);
  EXPECT_FALSE(turn.has_come(kMs, false));
  turn.created(now += kMs / 10, kMs);
  EXPECT_TRUE(turn.has_come(kMs, false));
  turn.is_over(now += kMs, kMs);
  EXPECT_FALSE(turn.has_come(kMs, false)) << "the task's own time does not count";
}

TEST(TurnOfACreator, DoesNotComeFromOtherWorkNorForUnknownTasks) {
  CreatorsTurn turn;
  turn.created(kEver, kMs);
  EXPECT_FALSE(turn.has_come(kMs, false)) << "one creation, after a long time";
  EXPECT_FALSE(turn.has_come(0, false));
}

TEST(TurnOfACreator, IsSavedUpForAWhile) {
  CreatorsTurn turn;
  std::uint64_t now = 7 * kMs;
  for (int i = 0; i < 1000; ++i) turn.created(now += kMs / 10, kMs);
  EXPECT_TRUE(turn.has_come(kMs, true));
  int turns = 0;
  for (; turn.has_come(kMs, false); ++turns) {
    turn.is_over(now += kMs, kMs);
    EXPECT_FALSE(turn.has_come(kMs, true)) << "others want to be fed";
  }
  EXPECT_EQ(turns, 8);
}

// Of a modelled machine. One for all: workers take turns, each for a task or a look, so that naps take long.
enum class Cpus { one_each, one_for_all };

// What becomes of tasks that one creator deals, each to its home.
struct Outcome {
  double local = 0;     // part of the tasks that ran at home
  double heaviest = 0;  // busiest worker's tasks by the mean
  double time = 0;      // in task times
};

Outcome simulate(std::uint32_t cores, const std::vector<Location>& homes, double deal_times,
                 std::uint64_t task_time, int rounds, Cpus cpus = Cpus::one_each) {
  const EightNodes machine(cores);
  struct Worker {
    Location at;
    Patience patience;
    std::uint64_t served = 0, left = 0, began = 0;
    bool running = false;
  };
  std::vector<Worker> workers;
  for (std::uint32_t w = 0; w < 8 * cores; ++w)
    workers.push_back({.at = static_cast<Location>(w / cores), .patience = {}});
  std::vector<std::deque<Location>> inbox(8);
  std::vector<std::uint64_t> mean(8, 0);
  std::vector<Share> share(8);
  std::uint32_t created = 0, dealt = 0;
  std::uint64_t now = 1, local = 0;
  const auto start = [&](Worker& worker, Location from) {
    const Location home = inbox[from].front();
    inbox[from].pop_front();
    --dealt;
    local += home == worker.at;
    if (from != worker.at) --share[from].stolen, ++share[worker.at].stolen;
    worker.running = true;
    worker.began = now;
    worker.left = task_time * machine.view.distance_between(worker.at, home) / 10;
  };
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t begin = now;
    const std::uint64_t step = std::min(task_time / 20, tuning::kLongestPauseNs);
    std::size_t made = 0, finished = 0, turn = 0;
    for (Share& each : share) each = {.before = each.dealt};
    Shares shares{.workers = 8 * cores, .victim_workers = cores, .thief_workers = cores};
    for (const Share& each : share) shares.all += each.before;
    for (; finished < homes.size(); now += step) {
      for (;
           made < homes.size() && static_cast<double>(now - begin) >=
                                      static_cast<double>(made) * deal_times * static_cast<double>(task_time);
           ++made, ++created, ++dealt)
        inbox[homes[made]].push_back(homes[made]), ++share[homes[made]].dealt;
      const std::size_t acting = turn % workers.size();
      for (Worker& worker : workers) {
        if (cpus == Cpus::one_for_all && &worker != &workers[acting]) continue;
        if (worker.running && worker.left > step) {
          worker.left -= step;
          continue;
        }
        ++turn;
        if (worker.running) {
          worker.running = false;
          ++worker.served;
          ++finished;
          std::uint64_t& known = mean[worker.at];
          known = known == 0 ? now - worker.began : known - known / 4 + (now - worker.began) / 4;
        }
        if (&worker == &workers[0] && made < homes.size()) continue;  // the creator
        if (!inbox[worker.at].empty()) {
          worker.patience.found_near(now);
          start(worker, worker.at);
          continue;
        }
        if (worker.patience.rests(now)) continue;
        const Idleness idle = worker.patience.look(now, dealt, created, worker.served);
        worker.patience.rest(now);
        for (int i = 1; i < 8; ++i) {
          const Location far = machine.order[worker.at * 8 + i];
          const auto depth = static_cast<std::uint32_t>(inbox[far].size());
          const bool dealing = made != homes.size();
          if (!dealing) shares.all = static_cast<std::int64_t>(made);
          shares.victims = dealing ? share[far].expects() : share[far].has();
          shares.thiefs = dealing ? share[worker.at].expects() : share[worker.at].has();
          if (!locality.may_steal_dealt(
                  machine.view, worker.at, far,
                  {.depth = depth, .task_time = mean[far], .dealing = dealing, .surplus = has_surplus(shares)}, idle))
            continue;
          worker.patience.steal(idle);
          start(worker, far);
          break;
        }
      }
    }
  }
  Outcome outcome;
  std::uint64_t most = 0;
  for (const Worker& worker : workers) most = std::max(most, worker.served);
  const double all = static_cast<double>(homes.size()) * rounds;
  outcome.local = static_cast<double>(local) / all;
  outcome.heaviest = static_cast<double>(most) * static_cast<double>(workers.size()) / all;
  outcome.time = static_cast<double>(now) / static_cast<double>(task_time);
  return outcome;
}

std::vector<Location> in_order(int each) {
  std::vector<Location> homes;
  for (int i = 0; i < 8 * each; ++i) homes.push_back(i / each);
  return homes;
}

TEST(OnAModelledMachine, TasksThatAreDealtInOrderRunAtHome) {
  // The slowest creator is at it for five of the 32 task times that each worker has to do.
  for (const double deal_times : {0.003, 0.01, 0.02})
    for (const std::uint64_t task_time : {kMs / 10, kMs, 10 * kMs}) {
      const Outcome outcome = simulate(1, in_order(32), deal_times, task_time, 4);
      EXPECT_GE(outcome.local, 0.95) << deal_times << ' ' << task_time;
      EXPECT_LE(outcome.heaviest, 1.3) << deal_times << ' ' << task_time;
    }
}

// As huge pages lay shuffled blocks: on some nodes several of them, on others half of one.
TEST(OnAModelledMachine, WhatANodeHasBeyondItsPartIsShared) {
  const int blocks_at[] = {64, 8, 48, 32, 16, 48, 32, 8};
  std::vector<Location> homes;
  for (int i = 0; i < 64; ++i)
    for (Location at = 0; at < 8; ++at)
      if (i * blocks_at[at] / 64 != (i + 1) * blocks_at[at] / 64) homes.push_back(at);
  ASSERT_EQ(homes.size(), 256u);
  const double best = 0.75;  // equal parts: 64 tasks have to leave
  for (const Cpus cpus : {Cpus::one_each, Cpus::one_for_all})
    for (const std::uint64_t task_time : {kMs / 10, kMs, 10 * kMs}) {
      const Outcome outcome = simulate(1, homes, 0.003, task_time, 4, cpus);
      EXPECT_GE(outcome.local, 0.95 * best) << task_time;
      EXPECT_LE(outcome.heaviest, 1.3) << task_time;
    }
}

TEST(OnAModelledMachine, WhatANodeHasBeyondItsPartIsSharedWhileOthersAreServed) {
  // In order: the first node has all of its tasks long before the last ones are dealt.
  const int tasks_at[] = {64, 16, 32, 32, 16, 48, 32, 16};
  std::vector<Location> homes;
  for (Location at = 0; at < 8; ++at) homes.insert(homes.end(), static_cast<std::size_t>(tasks_at[at]), at);
  ASSERT_EQ(homes.size(), 256u);
  const double best = 1 - 48.0 / 256;
  for (const double deal_times : {0.01, 0.06, 0.1})
    for (const std::uint64_t task_time : {kMs / 10, kMs, 10 * kMs}) {
      const Outcome outcome = simulate(1, homes, deal_times, task_time, 8);
      // The first node is the creator's: the longer it creates, the fewer of these it can run itself.
      EXPECT_GE(outcome.local, 0.85 * best) << deal_times << ' ' << task_time;
      EXPECT_LE(outcome.heaviest, 1.2) << deal_times << ' ' << task_time;
    }
}

TEST(OnAModelledMachine, ASlowCreatorIsLittleReasonToSteal) {
  // It takes longer to feed them than each of them has to work: nobody needs help, and whoever steals for
  // some while only before the own tasks come.
  for (const std::uint64_t task_time : {kMs / 10, kMs, 10 * kMs}) {
    const Outcome outcome = simulate(1, in_order(32), 0.2, task_time, 16);
    EXPECT_GE(outcome.local, 0.55) << task_time;
  }
}

TEST(OnAModelledMachine, TasksOfOneNodeAreSharedByAll) {
  // Dealt faster than one node works them off, for as long as all of it lasts: the patience of the others
  // runs out.
  const std::vector<Location> homes(2000, 3);
  for (const std::uint64_t task_time : {kMs / 10, kMs, 10 * kMs}) {
    const Outcome outcome = simulate(1, homes, 0.1, task_time, 1);
    EXPECT_LE(outcome.time, 2000.0 / 4 + tuning::kFirstPatience) << task_time;
  }
}

}  // namespace
}  // namespace hearth::policy
