// Who moves: threads, memory, both, or nobody. The situations of the paper (table 1, figures 2 and 3), zones of unequal size,
// and a team that grows.
#include "policy/relocation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "policy_bubbles.h"

namespace hearth::policy {
namespace {

constexpr EntityId kRoot = BubbleTree::kRoot;

// The paper's machine: bandwidths as in models/opteron-8347hex4.toml, and pages that cost 120 + 11 n microseconds.
struct Opteron : Bench {
  Opteron() : Bench("opteron-8347hex4") {
    for (Location node = 0; node < 4; ++node) costs.set_memory_gbs(node, 3.04);
    costs.remote_occupancy = 1.5;
    costs.machine_gbs = 14.54;
    costs.lines_at_a_time = 6;
    costs.thread_move_ns = 2560;
    costs.thread_arrive_ns = 0;
    costs.touched_page_ns = 13'000;
    costs.set_migration(120'000, 11'000);
    const Location pairs[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    for (const auto& [one, other] : pairs) {
      costs.add_to_route(one, other, costs.add_link(2.5));
      costs.add_to_route(other, one, costs.add_link(2.5));
    }
    const auto two_steps = [this](Location from, Location by, Location to) {
      for (std::int32_t link = 0; link < costs.links(); ++link)
        if (((costs.route(from, by) | costs.route(by, to)) >> link & 1) != 0) costs.add_to_route(from, to, link);
    };
    two_steps(0, 1, 3);
    two_steps(3, 1, 0);
    two_steps(1, 0, 2);
    two_steps(2, 0, 1);
  }
};

// A plan, and what it says.
struct Planned : Relocation {
  std::vector<PlaceId> place;
  std::vector<Location> target;
};

class Relocations : public testing::Test {
 protected:
  Planned plan(Program& program, const Horizon& horizon, const char* word = "memory+cache", EntityId top = kRoot) {
    program.tree.sum_up();
    Planned planned;
    planned.place = program.place;
    planned.target.resize(static_cast<std::size_t>(program.tree.attachments()));
    memory_.resize(relocation_bytes(program.tree, program.bench.places) / 8 + 1);
    static_cast<Relocation&>(planned) = plan_relocation(find_bubbles(word), program.standing(), top, horizon,
                                                        planned.place.data(), planned.target.data(), memory_.data());
    return planned;
  }
  // As planned: threads are there, and so is memory.
  static void apply(Program& program, const Planned& planned) {
    program.place = planned.place;
    for (placement::AttachmentId a = 0; a < program.tree.attachments(); ++a)
      if (planned.target[static_cast<std::size_t>(a)] >= 0)
        program.tree.relocate(a, planned.target[static_cast<std::size_t>(a)]);
    program.tree.sum_up();
  }
  Location layout(Program& program) {
    program.tree.sum_up();
    memory_.resize(relocation_bytes(program.tree, program.bench.places) / 8 + 1);
    return best_layout(program.standing(), kRoot, true, memory_.data());
  }

 private:
  std::vector<std::uint64_t> memory_;
};

// ---- Table 1.

std::vector<EntityId> teams_that_read(Program& program, int count) {
  std::vector<EntityId> all;
  for (int node = 0; node < count; ++node) {
    all.push_back(program.team(4));
    program.give(all.back(), 40 << 20, node);
    program.distribute("cache", all.back(), program.bench.places.place_of_location(node));
  }
  return all;
}

TEST_F(Relocations, FewThreadsSpreadTheirMemoryAndManyKeepItNear) {
  Opteron bench;
  Program few(bench), many(bench);
  teams_that_read(few, 1);
  teams_that_read(many, 4);
  EXPECT_EQ(layout(few), kOverNeighbours);
  EXPECT_EQ(layout(many), kStays);
}

TEST_F(Relocations, WithoutBandwidthsMemoryIsSpreadWhileHalfOfTheLocationsAreIdle) {
  Bench bench({.packages = 4, .cores = 4});
  for (int busy = 1; busy <= 4; ++busy) {
    Program program(bench);
    teams_that_read(program, busy);
    EXPECT_EQ(layout(program), busy <= 2 ? kOverNeighbours : kStays) << busy;
  }
  Program small(bench);
  const EntityId team = small.team(2);
  small.give(team, 1 << 20, 0);
  small.distribute("cache", team, bench.places.place_of_location(0));
  EXPECT_EQ(layout(small), kStays) << "two of four cores do not fill a node";
}

TEST_F(Relocations, MemoryThatWasSpreadIsGatheredOnceAllWork) {
  Opteron bench;
  Program program(bench);
  for (int node = 0; node < 4; ++node) {
    const EntityId team = program.team(4);
    program.distribute("cache", team, bench.places.place_of_location(node));
    placement::Shares shares(4);
    for (Location i = 0; i < 4; ++i) shares.add(i, 10 << 20);
    program.tree.attach(team, {}, shares);
  }
  EXPECT_EQ(plan(program, {.passes = 1}).action, Action::stay);
  const Planned planned = plan(program, {.passes = 1000});
  EXPECT_EQ(planned.action, Action::gather_data);
  EXPECT_EQ(planned.then.threads, 0);
  EXPECT_LT(planned.then.pass_ns, planned.now.pass_ns);
}

// ---- Figures 2 and 3: four teams of four, three vectors each, 160 MB in all.

std::vector<EntityId> twisted(Program& program, int local) {
  std::vector<EntityId> all;
  for (int team = 0; team < 4; ++team) all.push_back(program.team(4));
  program.distribute("cache");
  for (int team = 0; team < 4; ++team)
    for (int vector = 0; vector < 3; ++vector)
      program.give(all[static_cast<std::size_t>(team)], 40'000'000, vector < local ? team : (team + 1) % 4,
                   vector == 2 ? placement::Access::write : placement::Access::read);
  return all;
}

TEST_F(Relocations, Figure2ThreadsMoveHoweverMuchWorkThereIs) {
  Opteron bench;
  Program program(bench);
  const auto all = twisted(program, 0);
  for (const double passes : {0.1, 1.0, 5.0, 60.0, 1000.0}) {
    const Planned planned = plan(program, {.passes = passes, .mover = Mover::owner});
    EXPECT_EQ(planned.action, Action::move_threads) << passes;
    EXPECT_EQ(planned.then.pages, 0U);
    EXPECT_EQ(planned.then.threads, 16);
    for (int team = 0; team < 4; ++team)
      EXPECT_EQ(bench.places[planned.place[static_cast<std::size_t>(all[static_cast<std::size_t>(team)])]].location,
                (team + 1) % 4);
  }
}

TEST_F(Relocations, TeamsOfOneThreadGoInARingWhereEveryNodeHasOneCore) {
  Bench bench("../tests/numa/agreement/8x1");
  Program program(bench);
  const EntityId outer = program.tree.add_bubble(kRoot);
  std::vector<EntityId> all;
  for (int team = 0; team < 8; ++team) all.push_back(program.inside(program.team(1, outer), 0));
  program.distribute("memory+cache");
  std::vector<Location> next;
  for (std::size_t team = 0; team < 8; ++team) next.push_back(program.location(all[(team + 1) % 8]));
  for (std::size_t team = 0; team < 8; ++team)
    for (int vector = 0; vector < 3; ++vector) program.give(all[team], 256 << 10, next[team]);
  const Planned planned = plan(program, {.passes = 3}, "memory+cache", outer);
  EXPECT_EQ(planned.action, Action::move_threads);
  for (std::size_t team = 0; team < 8; ++team)
    EXPECT_EQ(bench.places[planned.place[static_cast<std::size_t>(all[team])]].location, next[team]);
}

TEST_F(Relocations, Figure2MemoryMovesIfThreadsMayNotAndThereIsEnoughWork) {
  Opteron bench;
  Program program(bench);
  twisted(program, 0);
  const Horizon few{.passes = 1, .mover = Mover::owner, .may_move_threads = false};
  const Horizon many{.passes = 60, .mover = Mover::owner, .may_move_threads = false};
  EXPECT_EQ(plan(program, few).action, Action::stay);
  const Planned planned = plan(program, many);
  EXPECT_EQ(planned.action, Action::migrate_data);
  EXPECT_EQ(planned.then.threads, 0);
  EXPECT_EQ(planned.target, (std::vector<Location>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

TEST_F(Relocations, Figure3MixedMovesOneVectorAndIsBestForLong) {
  Opteron bench;
  Program program(bench);
  twisted(program, 1);
  EXPECT_EQ(plan(program, {.passes = 0.5, .mover = Mover::owner}).then.pages, 0U) << "not worth any page";
  const Planned planned = plan(program, {.passes = 60, .mover = Mover::owner});
  EXPECT_EQ(planned.action, Action::mixed);
  EXPECT_EQ(planned.then.pages, 4 * bench.costs.pages(40'000'000)) << "one vector of three";
  EXPECT_EQ(planned.then.threads, 16);
  apply(program, planned);
  EXPECT_EQ(plan(program, {.passes = 1000, .mover = Mover::owner}).action, Action::stay) << "and that is all";
}

TEST_F(Relocations, Figure3TheWrittenVectorIsTheBetterOneToMove) {
  Opteron bench;
  Program program(bench);
  twisted(program, 1);
  std::vector<std::uint64_t> memory(relocation_bytes(program.tree, bench.places) / 8 + 1);
  const auto moved = [&](int vector) {
    std::vector<Location> target(12, kStays);
    for (int team = 0; team < 4; ++team) target[static_cast<std::size_t>(team * 3 + vector)] = team;
    return predict(program.standing(), {program.place.data(), target.data()}, Mover::owner, memory.data());
  };
  EXPECT_LT(moved(2).pass_ns, moved(1).pass_ns);
  EXPECT_EQ(moved(2).first_ns, moved(1).first_ns);
}

TEST_F(Relocations, AnnouncedTouchMovesTheSamePagesSoonerAndNextTouchLater) {
  Opteron bench;
  Program program(bench);
  twisted(program, 1);
  const Planned owner = plan(program, {.passes = 60, .mover = Mover::owner, .may_move_threads = false});
  const Planned members = plan(program, {.passes = 60, .mover = Mover::members, .may_move_threads = false});
  const Planned touch = plan(program, {.passes = 60, .mover = Mover::touch, .may_move_threads = false});
  for (const Planned* one : {&owner, &members, &touch}) EXPECT_EQ(one->then.pages, 8 * bench.costs.pages(40'000'000));
  EXPECT_LT(members.then.first_ns, 0.5 * owner.then.first_ns) << "four threads a team, as far as the links let them";
  EXPECT_GT(touch.then.first_ns, owner.then.first_ns);
}

// ---- What must not move.

TEST_F(Relocations, WhereAllAgreesNobodyMoves) {
  Opteron bench;
  Program program(bench);
  twisted(program, 3);
  const Planned planned = plan(program, {.passes = 1e6});
  EXPECT_EQ(planned.action, Action::stay);
  EXPECT_EQ(planned.place, program.place);
  EXPECT_EQ(planned.target, std::vector<Location>(12, kStays));
}

TEST_F(Relocations, OfSeatedThreadsAndWithoutPoliciesOnlyMemoryMoves) {
  Opteron bench;
  Program seated(bench), off(bench);
  twisted(seated, 0);
  twisted(off, 0);
  seated.run();
  for (const EntityId thread : seated.threads()) seated.tree[thread].seated = true;
  for (const Planned& planned : {plan(seated, {.passes = 60}), plan(off, {.passes = 60}, "off")}) {
    EXPECT_EQ(planned.action, Action::migrate_data);
    EXPECT_EQ(planned.then.threads, 0);
  }
}

TEST_F(Relocations, PinnedMemoryStays) {
  Opteron bench;
  Program program(bench);
  twisted(program, 0);
  for (placement::AttachmentId a = 0; a < 12; ++a) program.tree.attachment(a).movable = false;
  EXPECT_EQ(plan(program, {.passes = 1000, .may_move_threads = false}).action, Action::stay);
}

/// The owner uses the bytes at `where` that those before it use; `first` is the first one's attachment.
void give_shared(Program& program, EntityId owner, std::uint64_t bytes, Location where, placement::AttachmentId& first) {
  const placement::AttachmentId part = program.give(owner, bytes, where);
  if (first == placement::kNoAttachment)
    first = part;
  else
    program.tree.share(part, first);
}

// Two teams at two nodes use one vector, which is at a third one; a third team has its own there.
TEST_F(Relocations, SharedMemoryGoesToNoneOfItsUsersAlone) {
  Opteron bench;
  Program program(bench);
  std::vector<EntityId> teams;
  for (const Location node : {0, 1, 3}) {
    teams.push_back(program.team(4));
    program.distribute("cache", teams.back(), bench.places.place_of_location(node));
  }
  placement::AttachmentId shared = placement::kNoAttachment;
  for (const EntityId team : {teams[0], teams[1]}) give_shared(program, team, 4'000'000, 2, shared);
  program.give(teams[2], 4'000'000, 2);
  const Planned planned = plan(program, {.passes = 1000, .may_move_threads = false});
  EXPECT_NE(planned.action, Action::stay);
  EXPECT_TRUE(planned.target[0] == kStays || planned.target[0] == kOverAll) << planned.target[0];
  EXPECT_EQ(planned.target[1], kStays);  // the leader's says it
  EXPECT_NE(planned.target[2], kStays);
}

TEST_F(Relocations, SharedMemoryMovesOnceWhereAllOfItsUsersAre) {
  Opteron bench;
  Program program(bench);
  for (Location node = 0; node < 4; ++node) {
    const EntityId team = program.team(4);
    program.distribute("cache", team, bench.places.place_of_location(node));
    placement::AttachmentId first = placement::kNoAttachment;
    for (EntityId e = program.tree[team].first_inside; e != kNoEntity; e = program.tree[e].next)
      give_shared(program, e, 4'000'000, (node + 1) % 4, first);
  }
  const Planned planned = plan(program, {.passes = 1000, .may_move_threads = false});
  EXPECT_EQ(planned.action, Action::migrate_data);
  for (Location node = 0; node < 4; ++node)
    for (int user = 0; user < 4; ++user) EXPECT_EQ(planned.target[4 * node + user], user == 0 ? node : kStays);
  EXPECT_EQ(planned.then.pages, 4 * bench.costs.pages(4'000'000));
}

// All nodes read one table that is at one of them: its memory cannot feed them, and all memories together can.
TEST_F(Relocations, SharedMemoryIsSpreadWhereOneMemoryCannotFeedAll) {
  Opteron bench;
  Program program(bench);
  placement::AttachmentId first = placement::kNoAttachment;
  for (Location node = 0; node < 4; ++node) {
    const EntityId team = program.team(4);
    program.distribute("cache", team, bench.places.place_of_location(node));
    give_shared(program, team, 64'000'000, 0, first);
  }
  const Planned planned = plan(program, {.passes = 1000, .may_move_threads = false});
  EXPECT_EQ(planned.action, Action::spread_data);
  EXPECT_EQ(planned.target, (std::vector<Location>{kOverAll, kStays, kStays, kStays}));
}

TEST_F(Relocations, OnlyWhatIsWorthItsPagesMoves) {
  Opteron bench;
  Program program(bench);
  for (int node = 0; node < 4; ++node) {
    const EntityId team = program.team(4);
    program.distribute("cache", team, bench.places.place_of_location(node));
    for (const float passes : {1.F, 0.01F})
      program.tree.attachment(program.give(team, 40'000'000, (node + 1) % 4)).passes = passes;
  }
  const Planned planned = plan(program, {.passes = 40, .may_move_threads = false});
  EXPECT_EQ(planned.action, Action::migrate_data);
  EXPECT_EQ(planned.target, (std::vector<Location>{0, kStays, 1, kStays, 2, kStays, 3, kStays}));
}

TEST_F(Relocations, AnIdleNodeGetsAGroupWithItsMemory) {
  Opteron bench;
  Program program(bench);
  std::vector<EntityId> teams;
  for (const Location node : {0, 0, 2, 3}) {
    teams.push_back(program.team(4));
    program.tree.attachment(program.give(teams.back(), 4'000'000, node)).passes = 50;
    program.distribute("cache", teams.back(), bench.places.place_of_location(node));
  }
  for (const EntityId thread : program.threads()) program.tree[thread].work_ns = 1e8F;
  program.run();
  // `cache` does not look at memory, and leaves threads where they ran: what moves them is that a node has nothing to do.
  for (const char* word : {"cache", "memory+cache"}) {
    const Planned planned = plan(program, {.passes = 100}, word);
    EXPECT_TRUE(planned.action == Action::steal_group || planned.action == Action::mixed)
        << action_name(planned.action);
    const auto at = [&](int team) {
      return bench.places[planned.place[static_cast<std::size_t>(teams[static_cast<std::size_t>(team)])]].location;
    };
    EXPECT_EQ(std::set({at(0), at(1)}), std::set({0, 1})) << word;
    for (int team = 0; team < 2; ++team)
      EXPECT_EQ(planned.target[static_cast<std::size_t>(team)], at(team) == 0 ? kStays : 1);
    EXPECT_EQ(planned.then.threads, 4);
  }
}

// ---- Load.

float largest(const std::vector<float>& load) { return *std::max_element(load.begin(), load.end()); }
float mean(const std::vector<float>& load) {
  return std::accumulate(load.begin(), load.end(), 0.F) / static_cast<float>(load.size());
}

// The largest load of a location if the heaviest goes first, each to where least is.
float longest_first(std::vector<float> loads, std::size_t locations) {
  std::sort(loads.rbegin(), loads.rend());
  std::vector<float> sums(locations);
  for (const float load : loads) *std::min_element(sums.begin(), sums.end()) += load;
  return largest(sums);
}

// Sixteen, the largest twenty times the smallest, like the zones of NPB BT-MZ.
std::vector<float> zones() {
  std::vector<float> all;
  for (int i = 0; i < 16; ++i) all.push_back(std::pow(20.F, static_cast<float>(i) / 15));
  return all;
}

TEST_F(Relocations, ZonesOfUnequalSizeAreBalancedFromTheFirst) {
  Opteron bench;
  for (const char* word : {"memory+cache", "cache", "spread"}) {
    Program program(bench);
    for (const float load : zones()) program.team(4, kRoot, load / 4);
    program.distribute(word);
    EXPECT_LE(largest(program.load_by_location()), 1.15F * longest_first(zones(), 4)) << word;
  }
}

TEST_F(Relocations, ZonesThatLieUnevenlyAreMovedWithTheirMemory) {
  Opteron bench;
  Program program(bench);
  const std::vector<float> all = zones();
  std::vector<EntityId> teams;
  for (std::size_t i = 0; i < all.size(); ++i) {
    teams.push_back(program.team(4, kRoot, all[i] / 4));
    for (const EntityId thread : program.threads(teams.back())) program.tree[thread].work_ns = all[i] * 1e7F;
    const auto node = static_cast<Location>(i / 4);
    program.give(teams.back(), static_cast<std::uint64_t>(all[i] * 1e6F), node, placement::Access::read_write);
    program.distribute("cache", teams.back(), bench.places.place_of_location(node));
  }
  const Planned planned = plan(program, {.passes = 10'000});
  EXPECT_EQ(planned.action, Action::steal_group);
  apply(program, planned);
  EXPECT_LE(largest(program.load_by_location()), 1.15F * longest_first(all, 4));
  double local = 0, sum = 0;
  for (const EntityId team : teams)
    for (Location i = 0; i < 4; ++i) {
      sum += static_cast<double>(program.tree.weight(team, i));
      if (i == program.location(team)) local += static_cast<double>(program.tree.weight(team, i));
    }
  EXPECT_GE(local / sum, 0.95);
}

TEST_F(Relocations, OfATeamThatGrowsAsMuchMovesAsHasToAndNoMore) {
  Opteron bench;
  Program program(bench);
  std::vector<EntityId> teams;
  constexpr std::uint64_t kArea = 1 << 20;
  for (int node = 0; node < 4; ++node) {
    teams.push_back(program.team(16));
    for (const EntityId thread : program.threads(teams.back())) {
      program.tree[thread].work_ns = 1e8F;
      program.tree.attachment(program.give(thread, kArea, node)).passes = 20;
    }
    program.distribute("cache", teams.back(), bench.places.place_of_location(node));
  }
  for (int step = 0; step < 2; ++step) {
    for (const EntityId thread : program.threads(teams[0])) {
      program.tree[thread].load *= 1.5F;
      program.tree[thread].work_ns *= 1.5F;
    }
    program.tree.sum_up();
    // The least number of areas that have to leave for a load of at most 1.2 times the mean.
    const std::vector<float> before = program.load_by_location();
    const float each = program.tree[program.inside(teams[0], 0)].load;
    const double most = 1.2 * static_cast<double>(mean(before));
    const double optimum = std::ceil((static_cast<double>(largest(before)) - most) / static_cast<double>(each));
    const Planned planned = plan(program, {.passes = 10'000});
    EXPECT_LE(static_cast<double>(planned.then.pages), std::max(1.2 * optimum, optimum + 1) * (kArea >> 12)) << step;
    apply(program, planned);
    EXPECT_LE(largest(program.load_by_location()), 1.2F * mean(program.load_by_location())) << step;
  }
  for (const EntityId thread : program.threads())
    EXPECT_EQ(program.tree.favourite(thread), program.location(thread)) << "its memory is with it";
}

TEST_F(Relocations, SearchNeverFindsWorseThanToStay) {
  std::uint64_t seed = 3;
  const auto random = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((seed >> 33) % below);
  };
  for (int round = 0; round < 100; ++round) {
    Opteron bench;
    Program program(bench);
    for (int team = 0; team < 1 + random(6); ++team) {
      const EntityId bubble = program.team(1 + random(6));
      for (const EntityId thread : program.threads(bubble))
        if (random(2) != 0)
          program.give(thread, static_cast<std::uint64_t>(random(1 << 26)), random(4),
                       random(2) != 0 ? placement::Access::read : placement::Access::write);
    }
    program.distribute(random(2) != 0 ? "cache" : "spread");
    const double passes = random(100);
    const Planned planned = plan(program, {.passes = passes});
    EXPECT_LE(planned.then.ns(passes), planned.now.ns(passes));
    std::vector<std::uint64_t> memory(relocation_bytes(program.tree, bench.places) / 8 + 1);
    const Prediction again = predict(program.standing(), {planned.place.data(), planned.target.data()}, Mover::members,
                                     memory.data());
    EXPECT_EQ(again.pass_ns, planned.then.pass_ns);
    EXPECT_EQ(again.pages, planned.then.pages);
  }
}

}  // namespace
}  // namespace hearth::policy
