// What memory costs in the simulator: caches, occupancy, links, first touch; each switch of the parameters
// changes what it should and nothing else.
#include <gtest/gtest.h>

#include "sim/cost/shared_caches.h"
#include "sim_programs.h"

namespace hearth::sim {
namespace {

TEST(SharedCaches, TheLeastRecentlyUsedGoesFirstAndTheLastOfThemInPart) {
  SharedCaches caches(1, 100);
  EXPECT_EQ(caches.use(0, 1, 40), 0u);
  EXPECT_EQ(caches.use(0, 2, 40), 0u);
  EXPECT_EQ(caches.use(0, 1, 40), 40u);
  EXPECT_EQ(caches.use(0, 3, 40), 0u);  // 20 of 2 have to go
  EXPECT_EQ(caches.held(0), 100u);
  EXPECT_EQ(caches.use(0, 2, 40), 20u);  // which is filled up again, at the cost of 1
  EXPECT_EQ(caches.use(0, 3, 40), 40u);
  EXPECT_EQ(caches.use(0, 1, 40), 20u);
}

TEST(SharedCaches, AWriteIsTheOthersLoss) {
  SharedCaches caches(3, 100);
  caches.use(0, 7, 50);
  caches.use(1, 7, 50);
  EXPECT_EQ(caches.write(2, 7, 50), 0u);
  EXPECT_EQ(caches.held(0), 0u);
  EXPECT_EQ(caches.use(1, 7, 50), 0u);
  EXPECT_EQ(caches.use(2, 7, 50), 50u);
}

TEST(SharedCaches, WhatIsTooLargeSweepsItClean) {
  SharedCaches caches(1, 100);
  caches.use(0, 1, 60);
  EXPECT_EQ(caches.use(0, 2, 101), 0u);
  EXPECT_EQ(caches.use(0, 1, 60), 0u);
  EXPECT_EQ(caches.use(0, 2, 101), 0u);
}

TEST(SharedCaches, ManyExtentsAreFoundAgain) {
  SharedCaches caches(2, 1 << 20);
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_EQ(caches.use(i % 2, i * 0x9e3779b97f4a7c15u, 64), 0u);
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_EQ(caches.use(i % 2, i * 0x9e3779b97f4a7c15u, 64), 64u);
}

using Memory = Simulated;

Time ps(double ns) { return static_cast<Time>(ns * 1000); }

TEST_F(Memory, TheNextTaskFindsWhatTheCacheOfItsLocationHolds) {
  parameters.llc_bytes = 1 << 20;
  parameters.llc_ns = known(16);
  Steps b;
  b.task({b.work(0, {reads(0, 6400)}), b.work(0, {reads(0, 6400)}), b.work(0, {reads(6400, 640)})});
  const Result result = run(b.w, deterministic());
  EXPECT_EQ(result.makespan, ps(6400 + 1600 + 640));
  EXPECT_EQ(result.bytes(), 7040u);
  EXPECT_EQ(result.cache_hits, 6400u);
  parameters.llc_bytes = 6399;  // too small by a byte
  EXPECT_EQ(run(b.w, deterministic()).cache_hits, 0u);
}

TEST_F(Memory, WarmCachesBeginWithWhatTheInitialThreadHasFilled) {
  parameters.llc_bytes = 10 * 4096;
  parameters.llc_ns = known(8);
  // Of fifteen in a circle, none is left when its turn comes.
  RunOptions options = deterministic();
  options.threads = 1;
  EXPECT_EQ(run(flat(15, 4096, 0), options).cache_hits, 0u);
  options.warm = true;
  const Result warm = run(flat(10, 4096, 0), options);
  EXPECT_EQ(warm.cache_hits, 10u * 4096);
  EXPECT_EQ(warm.bytes(), 0u);
  Workload by_others = flat(10, 4096, 0);
  by_others.regions[0].first_touch = FirstTouch::by_writer;
  EXPECT_EQ(run(by_others, options).cache_hits, 0u);
}

TEST_F(Memory, PassesAfterTheFirstComeFromTheCacheThatHoldsThem) {
  Steps b;
  Access access = reads(0, 6400);
  access.passes = 3;
  b.task({b.work(0, {access})});
  EXPECT_EQ(run(b.w, deterministic()).makespan, ps(3 * 6400));
  EXPECT_EQ(run(b.w, deterministic()).bytes(), 19200u);
  parameters.llc_bytes = 48 * 6400;
  parameters.llc_ns = known(16);
  EXPECT_EQ(run(b.w, deterministic()).makespan, ps(6400 + 2 * 1600));
  RunOptions few = deterministic();
  few.threads = 48;  // six share each cache, and all of them may be busy
  parameters.llc_bytes = 6 * 6400;
  EXPECT_EQ(run(b.w, few).makespan, ps(6400 + 2 * 1600));
  parameters.llc_bytes -= 6;
  EXPECT_EQ(run(b.w, few).makespan, ps(3 * 6400));
  parameters.private_bytes = 6400;
  EXPECT_EQ(run(b.w, few).makespan, ps(6400));
  parameters.private_bytes = 6399;
  EXPECT_EQ(run(b.w, few).makespan, ps(3 * 6400));
}

TEST_F(Memory, HalfAPassIsHalfTheBytes) {
  Steps b;
  Access access = reads(0, 6400);
  access.passes = 0.5;
  Access unused = reads(6400, 6400);
  unused.passes = 0;
  b.task({b.work(0, {access, unused})});
  EXPECT_EQ(run(b.w, deterministic()).makespan, ps(3200));
  EXPECT_EQ(run(b.w, deterministic()).bytes(), 3200u);
}

TEST_F(Memory, WritingTakesLongerAndCostsTheNodeMore) {
  Steps b;
  b.task({b.work(0, {writes(0, 6400)})});
  EXPECT_EQ(run(b.w, deterministic()).makespan, ps(6400));
  parameters.write_latency = known(1.5);
  EXPECT_EQ(run(b.w, deterministic()).makespan, ps(9600));
  parameters.write_latency = known(1);
  parameters.memory_gbs.assign(8, known(1));
  EXPECT_EQ(run(b.w, deterministic()).makespan, ps(6400));
  parameters.write_occupancy = known(2);
  EXPECT_EQ(run(b.w, deterministic()).makespan, ps(12800));
}

// Task 0 is at location 0; its memory is where coarse puts the second region.
Workload reads_far() {
  Steps b;
  b.w.regions.push_back({"b", 1 << 20, FirstTouch::initial_thread, true});
  Access far = reads(0, 6400);
  far.region = 1;
  b.task({b.work(0, {far})});
  return b.w;
}

TEST_F(Memory, FarMemoryTakesLongerAndCostsItsNodeMore) {
  const Workload w = reads_far();
  RunOptions options = deterministic();
  options.distribution.kind = placement::Kind::coarse;
  EXPECT_EQ(run(w, options).makespan, ps(12800));
  EXPECT_EQ(run(w, options).missed(0, 1), 6400u);
  EXPECT_EQ(run(w, options).local_share(), 0);
  EXPECT_EQ(run(w, options).weighted_remote, 6400.0 * machine.location_distance.at(0, 1) / 10);
  parameters.memory_gbs.assign(8, known(0.5));
  EXPECT_EQ(run(w, options).makespan, ps(12800));
  parameters.remote_occupancy = known(1.5);
  EXPECT_EQ(run(w, options).makespan, ps(19200));
  options.distribution.kind = placement::Kind::standard;  // local now
  EXPECT_EQ(run(w, options).makespan, ps(12800));
}

TEST_F(Memory, AnswersTakeTheirLinkAndWhatIsWrittenBackTheOtherDirection) {
  Workload w = reads_far();
  RunOptions options = deterministic();
  options.distribution.kind = placement::Kind::coarse;
  parameters.links = {{1, 0, known(0.25), 0}, {0, 1, known(0.125), 0}};
  parameters.routes[1 * 8 + 0] = {0};
  parameters.routes[0 * 8 + 1] = {1};
  EXPECT_EQ(run(w, options).makespan, ps(25600));
  w.accesses[0].mode = placement::Access::write;
  EXPECT_EQ(run(w, options).makespan, ps(25600));
  parameters.write_occupancy = known(2);
  EXPECT_EQ(run(w, options).makespan, ps(51200));
  options.distribution.kind = placement::Kind::standard;
  EXPECT_EQ(run(w, options).makespan, ps(6400));
}

TEST_F(Memory, CoherenceIsOneLimitForTheWholeMachine) {
  Steps b(1 << 20, FirstTouch::by_parts);
  b.task({});
  const TaskIndex one = b.task({b.work(0, {reads(0, 6400)})});
  const TaskIndex other = b.task({b.work(0, {reads((1 << 20) - 6400, 6400)})});
  b.root({create(one), create(other), wait_all()});
  b.w.producers = 2;
  RunOptions options = deterministic();
  options.threads = 2;
  options.seating = Seating::spread;
  EXPECT_EQ(run(b.w, options).makespan, ps(6400));
  EXPECT_EQ(run(b.w, options).local_share(), 1);
  parameters.coherence_gbs = known(1);
  EXPECT_EQ(run(b.w, options).makespan, ps(12800));
}

TEST_F(Memory, WhoTouchesAPageFirstHasIt) {
  // The two halves are touched by two workers; then the first reads all of it.
  Steps b(16 * 4096, FirstTouch::by_writer);
  b.task({});
  const TaskIndex one = b.task({b.work(0, {writes(0, 8 * 4096)})});
  const TaskIndex other = b.task({b.work(0, {writes(8 * 4096, 8 * 4096)})});
  b.root({create(one), create(other), wait_all(), b.work(0, {reads(0, 16 * 4096)})});
  b.w.producers = 2;
  RunOptions options = deterministic();
  options.threads = 2;
  options.seating = Seating::spread;
  const Result result = run(b.w, options);
  EXPECT_EQ(result.missed(0, 0), 2 * 8 * 4096u);
  EXPECT_EQ(result.missed(4, 4), 8 * 4096u);
  EXPECT_EQ(result.missed(0, 4), 8 * 4096u);
}

TEST_F(Memory, DistributionsPlacePagesAsTheRuntimeDoes) {
  // 17 pages of one region: round robin, blocked (3, 2, 2, ...), all in one place.
  Steps b(17 * 4096);
  b.task({b.work(0, {reads(0, 17 * 4096)})});
  const auto misses = [&](placement::Kind kind) {
    RunOptions options = deterministic();
    options.distribution.kind = kind;
    Result result = run(b.w, options);
    result.misses.resize(8);
    for (std::uint64_t& bytes : result.misses) bytes /= 4096;
    return result.misses;
  };
  using Pages = std::vector<std::uint64_t>;
  EXPECT_EQ(misses(placement::Kind::fine), (Pages{3, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(misses(placement::Kind::blocked), (Pages{3, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(misses(placement::Kind::coarse), (Pages{17, 0, 0, 0, 0, 0, 0, 0}));
  RunOptions later = deterministic();
  later.distribution.kind = placement::Kind::coarse;
  later.allocations_before = 11;
  EXPECT_EQ(run(b.w, later).missed(0, 3), 17 * 4096u);
  EXPECT_EQ(misses(placement::Kind::standard), (Pages{17, 0, 0, 0, 0, 0, 0, 0}));
  b.w.regions[0].distributed = false;
  EXPECT_EQ(misses(placement::Kind::fine), (Pages{17, 0, 0, 0, 0, 0, 0, 0}));
  RunOptions everything = deterministic();
  everything.distribution.kind = placement::Kind::fine;
  everything.everything = true;
  EXPECT_EQ(run(b.w, everything).missed(0, 1), 2 * 4096u);
}

TEST_F(Memory, RowsOfAMatrixLieWhereTheirPagesDo) {
  // Four columns of 64 bytes each in 32 rows of a page.
  Steps b(32 * 4096);
  Access column = reads(64, 64);
  column.rows = 32;
  column.pitch = 4096;
  b.task({b.work(0, {column})});
  RunOptions options = deterministic();
  options.distribution.kind = placement::Kind::fine;
  const Result result = run(b.w, options);
  for (Location home = 0; home < 8; ++home) EXPECT_EQ(result.missed(0, home), 4 * 64u);
}

TEST_F(Memory, AWordOfEachRowCostsALine) {
  const auto missed = [&](std::uint64_t offset, std::uint64_t pitch) {
    Steps b(32 * 4096);
    Access column = reads(offset, 4);
    column.rows = 32;
    column.pitch = pitch;
    b.task({b.work(0, {column})});
    return run(b.w, deterministic()).bytes();
  };
  EXPECT_EQ(missed(1000, 4096), 32 * 64u);
  EXPECT_EQ(missed(4092, 4096), 32 * 64u);  // to the last byte of the region
  EXPECT_EQ(missed(8, 16), 32 * 16u);       // four rows to a line
}

// Task 0 reads 16 pages of location 1, and lets them be moved before.
class Moving : public Simulated {
 protected:
  static constexpr double kPages = 16, kBytes = kPages * 4096;
  Moving() {
    parameters.move_pages_base_us = known(20);
    parameters.move_pages_us = known(5);
    parameters.fault_us = known(3);
    parameters.move_thread_us = known(7);
    options.distribution.kind = placement::Kind::coarse;
  }
  Result after(Migration migration, int reads_before = 0) {
    Steps b;
    b.w.regions.push_back({"b", 16 * 4096, FirstTouch::initial_thread, true});
    Access all = reads(0, 16 * 4096);
    all.region = 1;
    migration.region = 1;
    b.w.migrations.push_back(migration);
    const Step read = b.work(0, {all});
    const Step move = step(Step::Kind::migrate, 0);
    if (reads_before == 1)
      b.task({read, move, read});
    else
      b.task({move, read});
    return run(b.w, options);
  }
  RunOptions options = deterministic();
};

TEST_F(Moving, PagesAreReadWhereTheyWereAndWrittenWhereTheyGo) {
  const Migration all{Migration::Kind::pages, 0, 0, 16 * 4096, placement::kUnknown};
  const Result result = after(all);
  EXPECT_EQ(result.workers[0].migrate, ps(20e3 + kPages * 5e3));
  EXPECT_EQ(result.makespan, ps(20e3 + kPages * 5e3 + kBytes));
  EXPECT_EQ(result.migrated_bytes, 16 * 4096u);
  EXPECT_EQ(result.local_share(), 1);
  EXPECT_EQ(result.bytes(), 16 * 4096u);
  // A page in 5 us is 0.8 bytes a nanosecond at each end, more than memory serves now.
  parameters.memory_gbs.assign(8, known(0.5));
  EXPECT_NEAR(static_cast<double>(after(all).workers[0].migrate), 1000 * kBytes / 0.5, 2);
  EXPECT_EQ(after({Migration::Kind::pages, 0, 0, 16 * 4096, 1}).migrated_bytes, 0u);     // they are there
  EXPECT_EQ(after({Migration::Kind::pages, 0, 5000, 8192, 3}).missed(0, 3), 3 * 4096u);  // three pages
}

TEST_F(Moving, MarkedPagesMoveWhenTheyAreTouched) {
  const Result result = after({Migration::Kind::next_touch, 0, 4096, 15 * 4096, placement::kUnknown}, 1);
  EXPECT_EQ(result.workers[0].migrate, ps(20e3));
  EXPECT_EQ(result.migrated_bytes, 15 * 4096u);
  EXPECT_EQ(result.missed(0, 0), 15 * 4096u);
  EXPECT_EQ(result.missed(0, 1), 17 * 4096u);
  EXPECT_EQ(result.makespan, ps(2 * kBytes + 20e3 + 15 * 8e3 + 15 * 4096 + 2 * 4096));
}

TEST_F(Moving, AThreadMovesToItsData) {
  const Result result = after({Migration::Kind::thread, 0, 0, 0, 1});
  EXPECT_EQ(result.workers[0].migrate, ps(7e3));
  EXPECT_EQ(result.workers[0].location, 1);
  EXPECT_EQ(result.missed(1, 1), 16 * 4096u);
  EXPECT_EQ(result.makespan, ps(7e3 + kBytes));
}

TEST(LastLevelCaches, OfANodeShareItsMemoryAndNothingElse) {
  topology::Machine machine = model("epyc-9654x2-nps4");
  machine.use_locations(topology::LocationKind::llc);
  ASSERT_EQ(machine.locations.size(), 24u);  // three in each of eight nodes
  Parameters parameters = plain_parameters(machine);
  parameters.llc_bytes = 1 << 20;
  parameters.llc_ns = known(16);
  parameters.remote_occupancy = known(2);
  // Implicit tasks at the first three caches: each reads its own 64 pages, then the second those of the
  // first.
  Steps b(192 * 4096, FirstTouch::by_parts);
  b.task({});
  constexpr std::uint64_t kPart = 64 * 4096;
  std::vector<Step> steps;
  for (std::uint64_t i = 0; i < 3; ++i)
    steps.push_back(create(b.task({b.work(0, {reads(i * kPart, kPart)})})));
  steps.push_back(wait_all());
  b.root(steps);
  b.w.producers = 3;
  RunOptions options = deterministic();
  options.seating = Seating::one_per_location;
  Workload w = b.w;
  w.regions[0].bytes = 24 * kPart;  // a part for each of the 24 workers
  Result result = simulate(w, machine, parameters, options);
  EXPECT_EQ(result.makespan, ps(kPart));
  for (Location i = 0; i < 3; ++i) EXPECT_EQ(result.missed(i, i), kPart);
  parameters.memory_gbs.assign(24, known(1.5));
  EXPECT_EQ(simulate(w, machine, parameters, options).makespan, ps(2 * kPart));
  // Another's pages of the same node are no further away, and its cache is no help.
  w.accesses[1].offset = 0;
  parameters.memory_gbs.assign(24, known(10));
  result = simulate(w, machine, parameters, options);
  EXPECT_EQ(result.makespan, ps(kPart));
  EXPECT_EQ(result.missed(1, 0), kPart);
  EXPECT_EQ(result.cache_hits, 0u);
  // Round the nodes first, then their caches; counted from address 0, and the region begins at page 512.
  options.distribution.kind = placement::Kind::fine;
  w.accesses[0].length = 9 * 4096;
  result = simulate(w, machine, parameters, options);
  for (Location home = 0; home < 24; ++home)
    EXPECT_EQ(result.missed(0, home), home % 3 == 1 || home == 2 ? 4096u : 0u) << home;
}

// A mesh of home caches: everything goes to the home, and what that does not hold, outside.
class HomeCaches : public testing::Test {
 protected:
  HomeCaches() {
    parameters.line_bytes = 16;
    parameters.llc_bytes = 65536;
    parameters.off_chip_ns = known(100);
    for (PatternSpeed& speed : parameters.patterns) speed = {known(1), known(0)};
  }
  double latency(std::size_t from, std::size_t to) const {
    return static_cast<double>(
        machine.home_latency_ns.at(static_cast<std::size_t>(machine.locations[from].llc),
                                   static_cast<std::size_t>(machine.locations[to].llc)));
  }
  Result run(const Workload& workload, placement::Kind kind) {
    RunOptions options = deterministic();
    options.distribution.kind = kind;
    return simulate(workload, machine, parameters, options);
  }
  topology::Machine machine = model("tilepro64");
  Parameters parameters = plain_parameters(machine);
};

TEST_F(HomeCaches, AHomeIsFilledFromOutsideOnce) {
  Steps b;
  b.task({b.work(0, {reads(0, 1600)}), b.work(0, {reads(0, 1600)})});
  b.w.regions[0].first_touch = FirstTouch::by_writer;  // else it is there already
  const Result result = run(b.w, placement::Kind::coarse);
  const double lines = 100, home = latency(0, 0);
  EXPECT_NEAR(static_cast<double>(result.makespan), 1000 * lines * (2 * home + 100), 2);
  EXPECT_EQ(result.missed(0, 0), 3200u);
  EXPECT_EQ(result.cache_hits, 1600u);
}

TEST_F(HomeCaches, PagesOfAProgramAreDealtOutLineByLine) {
  Steps b;
  b.task({b.work(0, {reads(0, 63 * 16)})});
  b.w.regions[0].first_touch = FirstTouch::by_writer;
  const Result result = run(b.w, placement::Kind::standard);
  double ns = 0;
  for (Location home = 0; home < 63; ++home) {
    EXPECT_EQ(result.missed(0, home), 16u);
    ns += latency(0, static_cast<std::size_t>(home)) + 100;
  }
  EXPECT_NEAR(static_cast<double>(result.makespan), 1000 * ns, 2);
}

TEST_F(HomeCaches, WritesGoThroughInEveryPassAndReadsOnlyIfTheyDoNotFit) {
  parameters.private_bytes = 8192;
  Steps b;
  Access access = writes(0, 1600);
  access.passes = 4;
  b.task({b.work(0, {access})});
  EXPECT_EQ(run(b.w, placement::Kind::coarse).bytes(), 6400u);
  b.w.accesses[0].mode = placement::Access::read;
  EXPECT_EQ(run(b.w, placement::Kind::coarse).bytes(), 1600u);
  b.w.accesses[0].length = 16000;
  EXPECT_EQ(run(b.w, placement::Kind::coarse).bytes(), 64000u);
}

}  // namespace
}  // namespace hearth::sim
