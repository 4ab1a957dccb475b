// The search for far tasks: what is looked at, in which order, and what may be taken.
#include "policy/search.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/policies.h"
#include "policy_machine.h"

namespace hearth::policy {
namespace {

using tuning::kMs;

// What a policy says, as each test wants it.
class Says final : public TaskPolicy {
 public:
  Location deal(const MachineView&, const Need&, Location, const LoadView&) const override { return kHere; }
  bool may_steal(const MachineView&, Location, Location, std::uint32_t depth) const override {
    return depth > threshold;
  }
  bool may_steal_dealt(const MachineView&, Location, Location, const FarTasks&, const Idleness&) const override {
    return dealt;
  }
  bool may_reach(const MachineView&, Location, Location) const override { return reach; }
  std::uint32_t threshold = 10;
  bool dealt = false;
  bool reach = true;
};

// Eight locations with tasks in inboxes and own queues; all that the search does is written down.
struct World {
  struct Found {
    std::string from;
    explicit operator bool() const { return !from.empty(); }
  };
  std::vector<std::uint32_t> dealt = std::vector<std::uint32_t>(8), queued = std::vector<std::uint32_t>(8);
  std::uint64_t time = 7 * kMs;
  bool anywhere = false;
  std::string done;
  std::vector<Location> looked_at;
  int left = 0;

  struct {
    const Says* policy;
    const EightNodes* machine;
    bool weighs_load;
  } search_rules{};
  SearchRules rules() const { return {*search_rules.policy, search_rules.machine->view, search_rules.weighs_load}; }
  const Location* near() const { return &search_rules.machine->order[3 * 8]; }
  bool shares_own_queues() const { return anywhere; }

  static std::string name(const char* what, Location where) { return what + std::to_string(where); }
  std::uint64_t now() const { return time; }
  Found take_dealt(Location where) {
    return dealt[where] == 0 ? Found{} : (--dealt[where], Found{name("inbox ", where)});
  }
  Found steal_at(Location where) {
    return queued[where] == 0 ? Found{} : (--queued[where], Found{name("queue ", where)});
  }
  Found steal_anywhere() const { return anywhere ? Found{"anywhere"} : Found{}; }
  std::uint32_t dealt_at(Location where) {
    looked_at.push_back(where);
    return dealt[where];
  }
  std::uint32_t queued_at(Location where) const { return queued[where]; }
  std::uint32_t waiting() const { return 1; }
  static std::uint32_t created() { return 1; }
  static std::uint64_t served() { return 1; }
  FarTasks far_tasks(Location where) const { return {.depth = dealt[where]}; }
  static bool anything_waits() { return true; }
  void left_alone() { ++left; }
  void count_stolen(Location where) { done += name("stolen from ", where); }
  static Found last_resort() { return {"last resort"}; }
};

class Search : public testing::Test {
 protected:
  World::Found look(const Looker& looker) {
    world.search_rules = {&policy, &machine, weighs_load};
    return find_by_distance(world, looker, patience);
  }
  // Until no more looks are needed for anything.
  void look_in_vain(std::uint32_t times, const Looker& looker) {
    for (std::uint32_t i = 0; i < times; ++i) {
      ASSERT_EQ(look(looker).from, "last resort");
      world.time += tuning::kLongestPauseNs;
    }
  }

  const EightNodes machine{6};
  Says policy;
  World world;
  Patience patience;
  bool weighs_load = false;
};
constexpr Looker kIdle{.here = 3}, kWaits{.here = 3, .waits = true};

TEST_F(Search, BeginsAtItsOwnLocationWithWhatWasDealtThere) {
  world.dealt[3] = world.queued[3] = 1;
  world.anywhere = true;
  EXPECT_EQ(look(kIdle).from, "inbox 3");
  EXPECT_EQ(look(kIdle).from, "queue 3");
  EXPECT_EQ(look(kIdle).from, "anywhere");
  EXPECT_TRUE(world.looked_at.empty()) << "far away";
}

TEST_F(Search, GoesByRisingDistance) {
  look(kIdle);
  EXPECT_EQ(world.looked_at, (std::vector<Location>{2, 4, 5, 6, 7, 0, 1}));
  world.looked_at.clear();
  look({.here = -1});
  EXPECT_EQ(world.looked_at.size(), 8u) << "nobody knows what is near";
}

TEST_F(Search, TakesQueuedTasksAboveTheThresholdAndDealtOnesIfThePolicySaysSo) {
  world.queued[2] = 10, world.queued[4] = 11;
  world.dealt[2] = 1;
  EXPECT_EQ(look(kIdle).from, "queue 4");
  EXPECT_EQ(world.left, 1) << "what was dealt is left to its workers";
  policy.dealt = true;
  EXPECT_EQ(look(kIdle).from, "inbox 2");
  EXPECT_EQ(world.done, "stolen from 2");
}

TEST_F(Search, RestsAfterALookInVainUnlessTheThreadIsAboutToSleep) {
  policy.dealt = true;
  ASSERT_EQ(look(kWaits).from, "last resort");
  World::Found found = find_far(world, kIdle, {}, patience);
  EXPECT_EQ(found.from, "last resort");
  patience.rest(world.time);
  world.dealt[2] = 1;
  EXPECT_FALSE(look(kIdle));
  EXPECT_EQ(look({.here = 3, .last_look = true}).from, "inbox 2");
}

TEST_F(Search, AWaiterTakesTasksAboveTheThresholdAfterEightLooksAndAllAfterSixteen) {
  look_in_vain(tuning::kWaiterLooks, kWaits);
  world.dealt[2] = 10, world.dealt[4] = 11;
  EXPECT_EQ(look(kWaits).from, "inbox 4") << "above the threshold";
  look_in_vain(tuning::kWaiterLooks - 1, kWaits);
  EXPECT_EQ(look(kWaits).from, "inbox 2");
}

TEST_F(Search, AWaiterTakesAllBeforeItSleeps) {
  policy.reach = false;
  world.dealt[5] = 1;
  world.queued[6] = 1;
  EXPECT_EQ(look({.here = 3, .waits = true, .last_look = true}).from, "inbox 5");
  EXPECT_EQ(look({.here = 3, .waits = true, .last_look = true}).from, "queue 6");
}

TEST_F(Search, AnIdleWorkerNeverTakesQueuedTasksThatItMayNotReach) {
  world.queued[6] = 1;
  EXPECT_EQ(look({.here = 3, .last_look = true}).from, "queue 6") << "below the threshold, but it would sleep";
  world.queued[6] = 1;
  policy.reach = false;
  EXPECT_EQ(look({.here = 3, .last_look = true}).from, "last resort");
}

TEST_F(Search, WhereLoadIsWeighedAWaiterIsAsPatientAsThePolicyForSixteenLooks) {
  weighs_load = true;
  world.dealt[2] = 99;
  policy.dealt = false;
  look_in_vain(2 * tuning::kWaiterLooks, kWaits);
  EXPECT_EQ(look(kWaits).from, "inbox 2");
}

}  // namespace
}  // namespace hearth::policy
