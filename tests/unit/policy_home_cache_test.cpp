// Algorithm 3 and its vicinities on the paper's manycore: 63 home caches on a mesh of 8 x 8 tiles, 10 cycles
// to the own one, 38 and 2 per hop to the others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include "policy/machine_tables.h"
#include "policy/policies.h"
#include "topology/model.h"

namespace hearth::policy {
namespace {

constexpr int kTiles = 63, kWidth = 8;
constexpr std::uint64_t kL1 = 8192;

topology::Machine model(const char* name) {
  topology::LoadedMachine loaded =
      topology::load_model(std::string(HEARTH_SOURCE_DIR "/models/") + name + ".toml");
  EXPECT_TRUE(loaded.ok()) << loaded.error;
  return std::move(loaded.machine);
}

std::unique_ptr<MachineTables> tables(const char* name, std::int32_t vicinity) {
  const topology::Machine machine = model(name);
  auto made = std::make_unique<MachineTables>();
  made->fill(machine, static_cast<std::int32_t>(machine.locations.size()), {.vicinity = vicinity});
  return made;
}

int hops(int a, int b) { return std::abs(a % kWidth - b % kWidth) + std::abs(a / kWidth - b / kWidth); }
int cycles(int a, int b) { return a == b ? 10 : 38 + 2 * hops(a, b); }

class Tiles : public testing::Test {
 protected:
  Tiles() { load.staffed = (std::uint64_t{1} << kTiles) - 1; }
  Location deal(const Need& need, Location creator) const {
    return home_cache.deal(machine->view, need, creator, load);
  }
  std::unique_ptr<MachineTables> machine = tables("tilepro64", 0);
  LoadView load;
};

TEST_F(Tiles, TheTablesHoldThePapersNumbers) {
  const MachineView& view = machine->view;
  ASSERT_EQ(view.locations, kTiles);
  EXPECT_EQ(view.homes, kTiles);
  EXPECT_EQ(view.l1_bytes[17], kL1);
  EXPECT_EQ(view.cache_per_core[17], 65536u);
  for (int from = 0; from < kTiles; ++from)
    for (int to = 0; to < kTiles; ++to)
      EXPECT_EQ(view.distance_between(from, to), static_cast<std::uint32_t>(cycles(from, to)));
}

TEST_F(Tiles, TellsWhyItHasDecided) {
  const auto why = [this](const Need& need) { return home_cache.why(machine->view, need, 0, load); };
  Need need(kTiles);
  EXPECT_EQ(why(need), Why::unknown_place);
  need.read.at[9] = kL1;
  EXPECT_EQ(why(need), Why::small_data);
  need.read.at[9] = 2 * kL1;
  EXPECT_EQ(why(need), Why::dealt);
  for (Location n = 0; n < kTiles; ++n) need.read.at[n] = 2 * kL1;
  EXPECT_EQ(why(need), Why::evenly_far);
}

TEST_F(Tiles, ATaskGoesToTheHomeOfItsData) {
  for (Location home = 0; home < kTiles; ++home) {
    Need need(kTiles);
    need.read.at[home] = kL1 + 1;
    EXPECT_EQ(deal(need, 5), home);
  }
}

TEST_F(Tiles, WhatTheFirstLevelCacheHoldsStaysHere) {
  Need need(kTiles);
  need.read.at[40] = kL1;
  EXPECT_EQ(deal(need, 5), kHere);
  need.written.at[41] = 1;
  EXPECT_EQ(deal(need, 5), 40);
}

TEST_F(Tiles, TheBytesThatTheProgramNamesDecideWhateverTheirNumber) {
  Need need(kTiles);
  need.read.at[40] = 16;
  need.decided = true;
  EXPECT_EQ(deal(need, 5), 40);
}

TEST_F(Tiles, TheLeastSumOfLatenciesWins) {
  std::uint32_t seed = 1;
  const auto random = [&seed](std::uint32_t below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
  };
  for (int round = 0; round < 2000; ++round) {
    load.turn = static_cast<std::uint32_t>(round);
    load.staffed = 0;
    for (int i = 0; i < kTiles; ++i) load.staffed |= std::uint64_t{random(4) != 0} << i;
    Need need(kTiles);
    // Of sums below 2^24 no more than 8 bits are dropped.
    for (std::uint32_t i = 0; i <= random(5); ++i) {
      need.read.at[random(kTiles)] += (40 + random(400)) * 256;
      need.written.at[random(kTiles)] += (40 + random(400)) * 256;
    }
    const auto cost = [&](Location n) {
      std::uint64_t sum = 0;
      for (int i = 0; i < kTiles; ++i)
        sum += (need.read.at[i] + need.written.at[i]) * static_cast<std::uint64_t>(cycles(n, i));
      return sum;
    };
    const Location chosen = deal(need, static_cast<Location>(random(kTiles)));
    ASSERT_GE(chosen, 0);
    ASSERT_NE(load.staffed >> chosen & 1, 0u) << "nobody is there";
    for (Location n = 0; n < kTiles; ++n) {
      if ((load.staffed >> n & 1) != 0) {
        EXPECT_LE(cost(chosen), cost(n));
      }
    }
  }
}

TEST_F(Tiles, WithoutAnybodyAnywhereATaskStaysHere) {
  Need need(kTiles);
  need.read.at[9] = 2 * kL1;
  load.staffed = 0;
  EXPECT_EQ(deal(need, 5), kHere);
  EXPECT_EQ(deal(need, placement::kUnknown), kHere);
}

TEST_F(Tiles, OfEqualsTheCreatorsOwnIsTakenFirstAndTheOthersTakeTurns) {
  Need need(kTiles);
  need.read.at[0] = need.read.at[7] = 2 * kL1;
  EXPECT_EQ(deal(need, 0), 0);
  EXPECT_EQ(deal(need, 7), 7);
  std::set<Location> chosen;
  for (load.turn = 0; load.turn < kTiles; ++load.turn) chosen.insert(deal(need, 60));
  EXPECT_EQ(chosen, (std::set<Location>{0, 7}));
}

// As fine distribution lays an allocation: line by line over all homes, from `first` on.
void spread(Need& need, std::uint64_t lines, int first) {
  for (std::uint64_t line = 0; line < lines; ++line)
    need.read.at[(static_cast<std::uint64_t>(first) + line) % kTiles] += 64;
}

TEST_F(Tiles, FinelyDistributedDataStaysHere) {
  for (std::uint64_t lines = kL1 / 64 + 1; lines < 3000; lines += 7) {
    Need one(kTiles);
    spread(one, lines, static_cast<int>(lines % kTiles));
    EXPECT_EQ(deal(one, 5), kHere) << lines;
    spread(one, lines, 11);
    spread(one, lines, 40);
    EXPECT_EQ(deal(one, 5), kHere) << "three of " << lines;
    one.decided = true;
    EXPECT_EQ(deal(one, 5), kHere) << "the hint, too, is for coarse distribution";
  }
}

TEST_F(Tiles, CoarselyDistributedDataInManyPlacesDoesNot) {
  // As a row of blocks, each an allocation of its own, with the next row's first ones.
  Need need(kTiles);
  for (int block = 0; block < 80; ++block) need.read.at[block % kTiles] += 65536;
  EXPECT_NE(deal(need, 62), kHere);
}

TEST_F(Tiles, UnknownBytesDecideNothing) {
  Need need(kTiles);
  need.read.unknown = 1 << 20;
  EXPECT_EQ(deal(need, 5), kHere);
}

TEST(Vicinities, AreBlocksOfTheMesh) {
  struct Shape {
    std::int32_t size;
    int wide, high;
  };
  for (const Shape shape : {Shape{1, 1, 1}, Shape{4, 2, 2}, Shape{8, 4, 2}, Shape{16, 4, 4}}) {
    const auto machine = tables("tilepro64", shape.size);
    for (int a = 0; a < kTiles; ++a)
      for (int b = 0; b < kTiles; ++b)
        EXPECT_EQ(machine->view.in_one_vicinity(a, b), a % kWidth / shape.wide == b % kWidth / shape.wide &&
                                                           a / kWidth / shape.high == b / kWidth / shape.high)
            << shape.size << ": " << a << ' ' << b;
  }
}

TEST(Vicinities, AreConsecutiveLocationsWithoutAMesh) {
  const auto machine = tables("opteron-6172x4", 4);
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b) EXPECT_EQ(machine->view.in_one_vicinity(a, b), a / 4 == b / 4);
}

TEST(Vicinities, HoldBackEveryIdleWorkerOutsideForEver) {
  const Idleness ever{.time = UINT64_MAX, .since_dealing = UINT64_MAX};
  for (const std::int32_t size : {0, 1, 4, 8, 16}) {
    const auto machine = tables("tilepro64", size);
    const MachineView& view = machine->view;
    for (Location thief = 0; thief < kTiles; ++thief)
      for (Location victim = 0; victim < kTiles; ++victim) {
        const bool inside = size == 0 || view.in_one_vicinity(thief, victim);
        EXPECT_EQ(home_cache.may_reach(view, thief, victim), inside);
        EXPECT_EQ(home_cache.may_steal(view, thief, victim, 1), inside);
        EXPECT_EQ(home_cache.may_steal_dealt(view, thief, victim, {.depth = 1}, {}), inside) << "at once";
        EXPECT_EQ(home_cache.may_steal_dealt(view, thief, victim, {.depth = 1000}, ever), inside);
        EXPECT_FALSE(home_cache.may_steal(view, thief, victim, 0));
        EXPECT_TRUE(home_cache.may_steal_dealt(view, thief, victim, {.depth = 1, .workers = 0}, {}))
            << "who else should take it?";
      }
    EXPECT_TRUE(home_cache.may_reach(view, placement::kUnknown, 3)) << "it has no vicinity";
  }
}

TEST(Vicinities, AreNoMatterToTheOtherPolicies) {
  const auto machine = tables("tilepro64", 1);
  for (const TaskPolicy* policy : {&locality, &work_stealing, &central})
    EXPECT_TRUE(policy->may_reach(machine->view, 0, 62));
}

// Workers at each tile with tasks that wait for each other's children, as the runtime lets them look: idle
// workers by the policy, waiters for their own descendants anywhere. One task in each inbox: nobody waits for
// ever.
TEST(Vicinities, OneTaskInEachInboxIsDoneEvenWhereItsWorkerWaits) {
  for (const std::int32_t size : {1, 4, 16}) {
    const auto machine = tables("tilepro64", size);
    const MachineView& view = machine->view;
    // Task i is at tile i; it makes a child whose home is tile `next(i)`, and waits for it.
    const auto next = [](int i) { return (i * 5 + 3) % kTiles; };
    struct Task {
      int maker;  // -1: of the first ones
      int number;
    };
    std::vector<std::vector<Task>> inbox(kTiles);
    for (int i = 0; i < kTiles; ++i) inbox[i].push_back({-1, i});
    std::vector<int> waits_for(kTiles, -1);  // the first task for whose child the tile's worker waits
    std::set<int> done_children, done;
    for (int step = 0; step < 10 * kTiles && done.size() < kTiles; ++step) {
      for (Location worker = 0; worker < kTiles; ++worker) {
        const auto take = [&](auto may) {
          for (int i = 0; i < kTiles; ++i) {
            auto& tasks = inbox[machine->near(worker)[i]];
            for (std::size_t t = 0; t < tasks.size(); ++t) {
              if (!may(machine->near(worker)[i], tasks[t])) continue;
              const Task taken = tasks[t];
              tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(t));
              return std::make_unique<Task>(taken);
            }
          }
          return std::unique_ptr<Task>();
        };
        const int waited = waits_for[worker];
        if (waited >= 0) {
          if (done_children.count(waited) == 0)
            if (const auto task = take([&](Location, const Task& t) { return t.maker == waited; }))
              done_children.insert(waited);
          if (done_children.count(waited) != 0) {
            done.insert(waited);
            waits_for[worker] = -1;
          }
          continue;
        }
        const auto task = take([&](Location where, const Task&) {
          const auto depth = static_cast<std::uint32_t>(inbox[where].size());
          return where == worker || home_cache.may_steal_dealt(view, worker, where, {.depth = depth}, {});
        });
        if (task == nullptr) continue;
        if (task->maker >= 0) {
          done_children.insert(task->maker);
        } else {
          inbox[next(task->number)].push_back({task->number, -1});
          waits_for[worker] = task->number;
        }
      }
    }
    EXPECT_EQ(done.size(), static_cast<std::size_t>(kTiles)) << size;
  }
}

}  // namespace
}  // namespace hearth::policy
