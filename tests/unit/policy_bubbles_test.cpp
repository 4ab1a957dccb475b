// Where bubbles and threads go under each policy. The authors' own placement vectors come first: machine, program, result.
#include "policy_bubbles.h"

#include <atomic>
#include <cstdlib>
#include <set>

#include "policy/distribution.h"

namespace {
std::atomic<int> allocations = 0;
}  // namespace

#ifndef __SANITIZE_ADDRESS__  // which pairs news with deletes by itself; nothing is counted then
// NOLINTBEGIN(misc-new-delete-overloads)
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(misc-new-delete-overloads)
#endif

namespace hearth::policy {
namespace {

constexpr EntityId kRoot = BubbleTree::kRoot;

std::vector<EntityId> teams(Program& program, int count, int threads) {
  std::vector<EntityId> all;
  for (int i = 0; i < count; ++i) all.push_back(program.team(threads));
  return all;
}

// ---- Vectors of the authors' tests.

TEST(AuthorsVectors, MemoryThreeBubblesDrawnToOneNodeAndOneToTheOther) {
  Bench bench({.packages = 2, .cores = 2});
  Program program(bench);
  const auto all = teams(program, 4, 2);
  for (int i = 0; i < 4; ++i) program.give(program.inside(all[i], 0), 4096, i < 3 ? 0 : 1);
  program.distribute("memory+cache");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(program.location(all[i]), i < 3 ? 0 : 1) << i;
}

TEST(AuthorsVectors, MemoryFourBubblesDrawnToOneNodeGoOneToANode) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  const auto all = teams(program, 4, 4);
  for (const EntityId team : all) program.give(program.inside(team, 0), 4096, 0);
  program.distribute("memory+cache");
  std::set<Location> nodes;
  for (const EntityId team : all) nodes.insert(program.location(team));
  EXPECT_EQ(nodes, (std::set<Location>{0, 1, 2, 3}));
}

TEST(AuthorsVectors, MemoryTheBubbleWithMostDataKeepsItsNode) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  const auto all = teams(program, 4, 4);
  for (int i = 0; i < 4; ++i) program.give(program.inside(all[i], 0), (i + 1) * 1024, 0);
  program.distribute("memory+cache");
  EXPECT_EQ(program.location(all[3]), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(program.location(all[i]), i + 1);
}

TEST(AuthorsVectors, MemoryPagesFollowTheirBubbles) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  const auto all = teams(program, 4, 4);
  for (int i = 0; i < 4; ++i) program.give(all[i], 4096U << i, 0);
  program.distribute("memory+cache");
  const Location expected[] = {1, 2, 3, 0};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(program.location(all[i]), expected[i]) << i;
}

TEST(AuthorsVectors, CacheEightBubblesOfTwoOnFourTimesFour) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  const auto all = teams(program, 8, 2);
  program.distribute("cache");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(program.location(all[i]), i / 2) << i;
  for (const int count : program.threads_by_cpu()) EXPECT_EQ(count, 1);
}

TEST(AuthorsVectors, CacheFourBubblesOfFourOnEightTimesTwoAreAllOpened) {
  Bench bench({.packages = 8, .cores = 2});
  Program program(bench);
  teams(program, 4, 4);
  program.distribute("cache");
  for (const int count : program.threads_by_cpu()) EXPECT_EQ(count, 1);
}

TEST(AuthorsVectors, CacheFourBubblesOfFourOnFourTimesTwoTimesTwoGoOneToANode) {
  Bench bench({.packages = 4, .caches = 2, .cores = 2});
  Program program(bench);
  const auto all = teams(program, 4, 4);
  program.distribute("cache");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(program.location(all[i]), i);
  for (const int count : program.threads_by_cpu()) EXPECT_EQ(count, 1);
}

TEST(AuthorsVectors, CacheHeavyThreadsGoApart) {
  Bench bench({.packages = 2, .cores = 2});
  Program program(bench);
  const float loads[] = {100, 1, 1, 100};
  EntityId threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = program.thread(kRoot, loads[i]);
  program.distribute("cache");
  EXPECT_EQ(program.cpu(threads[0]), 0);
  EXPECT_EQ(program.cpu(threads[3]), 2);
}

TEST(AuthorsVectors, CacheTwoBubblesOnTwoCoresStayWhole) {
  Bench bench({.cores = 2});
  Program program(bench);
  const auto all = teams(program, 2, 2);
  program.distribute("cache");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(program.cpu(program.inside(all[i], 0)), i);
    EXPECT_EQ(program.at(all[i]), program.at(program.inside(all[i], 0)));
  }
}

// ---- Cache.

TEST(CacheBubbles, ThreadsThatHaveRunReturnToTheirCpus) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  const auto all = teams(program, 4, 4);
  // In another order than they are dealt in.
  for (int i = 0; i < 16; ++i) {
    placement::Entity& thread = program.tree[program.inside(all[static_cast<std::size_t>(i / 4)], i % 4)];
    thread.last_cpu = static_cast<std::uint32_t>(15 - i);
    thread.last_ran = 1;
  }
  program.distribute("cache");
  for (const EntityId thread : program.threads())
    EXPECT_EQ(program.cpu(thread), static_cast<int>(program.tree[thread].last_cpu));
}

TEST(CacheBubbles, OfTooManyAtOnePlaceThoseLeaveWhoRanThereLongestAgo) {
  Bench bench({.packages = 2, .cores = 2});
  Program program(bench);
  const EntityId team = program.team(4);
  for (int i = 0; i < 4; ++i) {
    program.tree[program.inside(team, i)].last_cpu = static_cast<std::uint32_t>(i % 2);
    program.tree[program.inside(team, i)].last_ran = i < 2 ? 1 : 2;
  }
  program.distribute("cache");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(program.location(program.inside(team, i)), i < 2 ? 1 : 0) << i;
}

TEST(CacheBubbles, ASmallTeamStaysInsideOneNode) {
  Bench bench({.packages = 4, .caches = 2, .cores = 4});
  Program program(bench);
  const EntityId team = program.team(3);
  program.distribute("cache");
  EXPECT_NE(program.location(team), kUnknown);
  const PlaceId before = program.at(program.inside(team, 0));
  for (const EntityId thread : program.threads()) program.tree[thread].last_cpu = 13;
  program.distribute("cache");
  EXPECT_EQ(program.location(team), 1) << "where it ran before, which was not at place " << before;
}

TEST(CacheBubbles, ATeamIsPlacedBesideOthersThatAreThere) {
  Bench bench({.packages = 2, .cores = 4});
  Program program(bench);
  const EntityId first = program.team(4);
  program.distribute("cache");
  const PlaceId node = bench.places.place_of_location(1);
  program.distribute("cache", first, node);
  const EntityId second = program.team(4);
  program.distribute("cache", second);
  for (const EntityId thread : program.threads(second)) EXPECT_EQ(program.location(thread), 0);
  for (const EntityId thread : program.threads(first))
    EXPECT_EQ(program.location(thread), 1) << "it was not asked about";
}

TEST(CacheBubbles, WhoIsSeatedStaysAndCountsAsLoad) {
  Bench bench({.packages = 2, .cores = 2});
  Program program(bench);
  const EntityId team = program.team(4);
  for (int i = 0; i < 2; ++i) {
    placement::Entity& thread = program.tree[program.inside(team, i)];
    thread.seated = true;
    thread.last_cpu = static_cast<std::uint32_t>(i);
  }
  program.distribute("cache");
  EXPECT_EQ(program.threads_by_cpu(), (std::vector{1, 1, 1, 1}));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(program.cpu(program.inside(team, i)), i);
}

TEST(CacheBubbles, HyperthreadsAreLeftToTheKernelWhereCoresAreEnough) {
  Bench bench({.packages = 2, .cores = 4, .threads = 2});
  std::vector<std::uint64_t> memory(PlaceTree::bytes_for(bench.machine) / 8 + 1);
  bench.places.fill(bench.machine, 2, topology::thread_level, memory.data());
  Program program(bench);
  program.team(8);
  program.distribute("cache");
  std::set<PlaceId> cores;
  for (const EntityId thread : program.threads()) {
    cores.insert(program.at(thread));
    EXPECT_EQ(bench.places[program.at(thread)].level, topology::core_level);
  }
  EXPECT_EQ(cores.size(), 8U) << "one thread a core, on either of its hardware threads";
}

TEST(CacheBubbles, AMemoryBoundThreadGoesBesideAComputeBoundOne) {
  Bench bench({.packages = 1, .caches = 4, .cores = 2});
  Program program(bench);
  const EntityId team = program.team(8);
  for (int i = 0; i < 8; ++i)
    program.tree[program.inside(team, i)].intensity = i < 4 ? placement::Intensity::memory
                                                            : placement::Intensity::compute;
  program.distribute("cache");
  std::vector<int> bound(4), all(4);
  for (int i = 0; i < 8; ++i) {
    const auto cache = static_cast<std::size_t>(program.cpu(program.inside(team, i)) / 2);
    bound[cache] += i < 4;
    ++all[cache];
  }
  EXPECT_EQ(bound, (std::vector{1, 1, 1, 1}));
  EXPECT_EQ(all, (std::vector{2, 2, 2, 2}));
}

TEST(CacheBubbles, ComputeAndMemoryBoundThreadsShareCoresToo) {
  Bench bench({.packages = 1, .cores = 4, .threads = 2});
  std::vector<std::uint64_t> memory(PlaceTree::bytes_for(bench.machine) / 8 + 1);
  bench.places.fill(bench.machine, 1, topology::thread_level, memory.data());
  Program program(bench);
  const EntityId team = program.team(8);
  for (int i = 0; i < 8; ++i)
    program.tree[program.inside(team, i)].intensity = i % 4 < 2 ? placement::Intensity::memory
                                                                : placement::Intensity::compute;
  program.distribute("cache");
  std::vector<int> bound(4);
  for (int i = 0; i < 8; ++i) {
    const unsigned cpu = *bench.places.cpus(program.at(program.inside(team, i)));
    if (i % 4 < 2) ++bound[static_cast<std::size_t>(bench.machine.cpus[cpu].core)];
  }
  EXPECT_EQ(bound, (std::vector{1, 1, 1, 1}));
}

// ---- Memory.

TEST(MemoryBubbles, EachThreadGoesToItsOwnMemory) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  const EntityId team = program.team(16);
  for (int i = 0; i < 16; ++i) program.give(program.inside(team, i), 1 << 20, (i + 1) % 4);
  program.distribute("memory+cache");
  for (int i = 0; i < 16; ++i) EXPECT_EQ(program.location(program.inside(team, i)), (i + 1) % 4);
  for (const int count : program.threads_by_cpu()) EXPECT_EQ(count, 1);
}

TEST(MemoryBubbles, AWrittenByteDrawsMoreThanOneThatIsRead) {
  Bench bench({.packages = 2, .cores = 2});
  Program program(bench);
  const EntityId team = program.team(2);
  program.give(program.inside(team, 0), 1000, 0, placement::Access::read);
  program.give(program.inside(team, 0), 900, 1, placement::Access::write);
  program.distribute("memory+cache");
  EXPECT_EQ(program.location(program.inside(team, 0)), 1);
}

TEST(MemoryBubbles, WithoutHintsItDealsAsCacheDoes) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench), other(bench);
  for (Program* one : {&program, &other}) teams(*one, 3, 5);
  program.distribute("memory+cache");
  other.distribute("cache");
  EXPECT_EQ(program.place, other.place);
}

TEST(MemoryBubbles, TwoLargeTeamsOnTwoOfFourNodesLeaveNoNodeIdle) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  const auto all = teams(program, 2, 8);
  for (int i = 0; i < 2; ++i)
    for (const EntityId thread : program.threads(all[i])) program.give(thread, 4096, i);
  program.distribute("memory+cache");
  EXPECT_EQ(program.load_by_location(), (std::vector<float>{4, 4, 4, 4}));
}

TEST(MemoryBubbles, MemoryWithoutCpusDrawsToTheNearestThatHasSome) {
  Bench bench({.packages = 3, .cores = 2});
  topology::NodeMask all_memory = bench.machine.memory_nodes;
  bench.machine.restrict_to({0, 1, 4, 5}, all_memory, {});
  std::vector<std::uint64_t> memory(PlaceTree::bytes_for(bench.machine) / 8 + 1);
  ASSERT_EQ(bench.machine.locations.size(), 3U);
  bench.places.fill(bench.machine, 3, topology::core_level, memory.data());
  bench.costs.fill(bench.machine, 3);
  bench.costs.set_read_line_ns(2, 1, 90);
  Program program(bench);
  const EntityId thread = program.thread(kRoot);
  program.give(thread, 4096, 1);
  program.distribute("memory+cache");
  EXPECT_EQ(program.location(thread), 2);
}

// ---- Spread.

TEST(SpreadBubbles, TheHeaviestGoWhereLeastIsToDo) {
  Bench bench({.packages = 4, .cores = 4});
  Program program(bench);
  program.team(4);
  program.distribute("spread");
  EXPECT_EQ(program.load_by_location(), (std::vector<float>{1, 1, 1, 1}));
}

// ---- All of them.

TEST(Bubbles, EveryWordHasAStackAndOffHasNone) {
  std::vector<std::string> words;
  for (std::size_t i = 0; bubbles_at(i).name != nullptr; ++i) words.emplace_back(bubbles_at(i).name);
  EXPECT_EQ(words, (std::vector<std::string>{"memory+cache", "cache", "spread", "off"}));
  EXPECT_EQ(find_bubbles("memory+cache").above, &memory_bubbles);
  EXPECT_EQ(find_bubbles("off").inside, nullptr);
  EXPECT_EQ(find_bubbles("cach").name, nullptr);
}

TEST(Bubbles, EverybodyGetsAPlaceInsideTheirBubbles) {
  std::uint64_t seed = 7;
  const auto random = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((seed >> 33) % below);
  };
  for (const char* model : {"opteron-8347hex4", "epyc-9654x2-nps4", "xeon-spr-snc4x2", "tilepro64"}) {
    Bench bench(model);
    for (int round = 0; round < 60; ++round) {
      Program program(bench);
      std::vector<EntityId> bubbles{kRoot};
      for (int i = random(30); i >= 0; --i) {
        const EntityId outer = bubbles[static_cast<std::size_t>(random(bubbles.size()))];
        bubbles.push_back(program.team(random(9), outer, static_cast<float>(1 + random(4)) / 2));
      }
      for (const EntityId thread : program.threads()) {
        if (random(2) != 0) program.give(thread, 1 + random(1 << 20), random(bench.locations()));
        if (random(3) == 0) program.tree[thread].last_cpu = static_cast<unsigned>(random(bench.machine.cpus.size()));
        if (random(4) == 0) program.tree[thread].intensity = placement::Intensity::memory;
      }
      for (const char* word : {"memory+cache", "cache", "spread"}) {
        program.distribute(word);
        for (EntityId e = kRoot; e != kNoEntity; e = program.tree.next_inside(e, kRoot)) {
          ASSERT_NE(program.at(e), kNoPlace) << word << " " << model;
          const EntityId outer = program.tree[e].parent;
          ASSERT_TRUE(outer == kNoEntity || bench.places.holds(program.at(outer), program.at(e)));
        }
      }
    }
  }
}

// ---- Hints.

class Hints : public testing::Test {
 protected:
  Hints() : all(teams(program, 4, 4)) {
    program.distribute("cache");
    program.tree.sum_up();
  }
  void hint(EntityId thread, Location where) {
    program.give(thread, 1 << 20, where);
    program.tree.sum_up();
  }

  Bench bench{{.packages = 4, .cores = 4}};
  Program program{bench};
  std::vector<EntityId> all;
};

TEST_F(Hints, ThatAgreeMoveNobody) {
  for (int i = 0; i < 4; ++i)
    for (const EntityId thread : program.threads(all[i])) hint(thread, i);
  const int before = allocations;
  program.tree.sum_up(all[0]);
  EXPECT_EQ(contradicted_by_hints(program.standing(), kRoot), kNoEntity);
  EXPECT_EQ(allocations, before);
}

TEST_F(Hints, OfTwoThreadsThatWouldChangePlacesReachTheirTeam) {
  const EntityId one = program.inside(all[0], 0), other = program.inside(all[0], 3);
  program.place[static_cast<std::size_t>(other)] = program.at(program.inside(all[1], 0));
  const Location there = program.location(other), here = program.location(one);
  ASSERT_NE(here, there);
  hint(one, there);
  hint(other, here);
  EXPECT_EQ(contradicted_by_hints(program.standing(), kRoot), all[0]);
}

TEST_F(Hints, OfATeamThatWantsAnotherTeamsNodeReachWhatHoldsBoth) {
  for (const EntityId thread : program.threads(all[2])) hint(thread, 3);
  EXPECT_EQ(contradicted_by_hints(program.standing(), all[2]), kRoot);
  EXPECT_EQ(contradicted_by_hints(program.standing(), all[1]), kNoEntity) << "the other team's hints were not changed";
}

TEST_F(Hints, OfSeatedThreadsMoveNobody) {
  for (const EntityId thread : program.threads(all[2])) {
    program.tree[thread].seated = true;
    hint(thread, 3);
  }
  EXPECT_EQ(contradicted_by_hints(program.standing(), all[2]), kNoEntity);
}

// ---- Stealing.

TEST(BubbleStealing, AnIdleCoreTakesFromItsNeighbourWhoHasTwo) {
  Bench bench({.packages = 2, .cores = 4});
  Program program(bench);
  teams(program, 2, 4);
  program.distribute("cache");
  // Of the first node's threads two share core 0, and core 1 is idle. The other node has more to spare, and is far.
  const std::vector<EntityId> threads = program.threads();
  program.place[static_cast<std::size_t>(threads[1])] = program.at(threads[0]);
  for (int i = 0; i < 6; ++i) {
    const EntityId extra = program.thread(program.tree[threads[7]].parent);
    program.place[static_cast<std::size_t>(extra)] = program.at(threads[7]);
  }
  program.tree.sum_up();
  const EntityId stolen = cache_bubbles.steal(program.standing(), bench.places.leaf_of_cpu(1));
  EXPECT_TRUE(stolen == threads[0] || stolen == threads[1]) << stolen;
  EXPECT_EQ(cache_bubbles.steal(program.standing(), bench.places.leaf_of_cpu(2)), stolen);
}

TEST(BubbleStealing, NobodyIsTakenFromWhereThereAreCpusForAll) {
  Bench bench({.packages = 2, .cores = 4});
  Program program(bench);
  program.team(4);
  program.distribute("cache", kRoot, bench.places.place_of_location(0));
  program.tree.sum_up();
  EXPECT_EQ(memory_bubbles.steal(program.standing(), bench.places.place_of_location(1)), kNoEntity);
}

TEST(BubbleStealing, AnIdleNodeTakesTheWholeGroupWhoseMemoryItHas) {
  Bench bench({.packages = 2, .cores = 4});
  Program program(bench);
  const auto all = teams(program, 3, 4);
  const PlaceId first = bench.places.place_of_location(0);
  program.distribute("cache", kRoot, first);
  for (const EntityId thread : program.threads(all[1])) program.give(thread, 1 << 20, 1);
  program.tree.sum_up();
  EXPECT_EQ(memory_bubbles.steal(program.standing(), bench.places.place_of_location(1)), all[1]);
}

TEST(BubbleStealing, TheOnlyBubbleIsOpened) {
  Bench bench({.packages = 2, .cores = 4});
  Program program(bench);
  const EntityId team = program.team(8);
  program.distribute("cache", kRoot, bench.places.place_of_location(0));
  program.tree.sum_up();
  const EntityId stolen = memory_bubbles.steal(program.standing(), bench.places.place_of_location(1));
  ASSERT_NE(stolen, kNoEntity);
  EXPECT_EQ(program.tree[stolen].parent, team);
}

}  // namespace
}  // namespace hearth::policy
