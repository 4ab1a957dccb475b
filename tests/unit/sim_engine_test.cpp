// The simulator on cases that can be worked out by hand, and what must hold of any run.
#include "sim/engine/engine.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policy/policies.h"
#include "sim_programs.h"

namespace hearth::sim {
namespace {

using Engine = Simulated;

TEST_F(Engine, ComputingTakesItsCycles) {
  Steps b;
  b.task({b.work(1234)});
  const Result result = run(b.w, deterministic());
  EXPECT_EQ(result.makespan, 1234 * kNs);
  EXPECT_EQ(result.tasks, 1u);
  EXPECT_EQ(result.unfinished, 0u);
  EXPECT_EQ(result.bytes(), 0u);
  EXPECT_EQ(result.local_share(), 1);
}

TEST_F(Engine, MemoryTakesTheLatencyOfEachLineAndComputingComesOnTop) {
  Steps b;
  b.task({b.work(1000, {reads(0, 6400)})});
  EXPECT_EQ(run(b.w, deterministic()).makespan, 7400 * kNs);
  parameters.patterns[0].overlap = known(1);
  EXPECT_EQ(run(b.w, deterministic()).makespan, 6400 * kNs);
  parameters.patterns[0].overlap = known(0.5);
  EXPECT_EQ(run(b.w, deterministic()).makespan, 6900 * kNs);
  parameters.patterns[0].misses_in_flight = known(4);
  EXPECT_EQ(run(b.w, deterministic()).makespan, 2100 * kNs);
}

TEST_F(Engine, TheInitialThreadsMemoryIsFarForTheOthers) {
  Workload w = flat(2, 6400, 0);
  RunOptions options = deterministic();
  options.threads = 2;
  options.seating = Seating::spread;
  const Result result = run(w, options);
  // One task local, the other, stolen, far.
  EXPECT_EQ(result.bytes(), 12800u);
  EXPECT_EQ(result.missed(0, 0), 6400u);
  EXPECT_EQ(result.local_share(), 0.5);
  EXPECT_EQ(result.makespan, 12800 * kNs + 1);  // the far one is there after a picosecond
  EXPECT_EQ(result.steals, 1u);
}

TEST_F(Engine, SharedMemoryServesAllAlike) {
  parameters.memory_gbs.assign(8, known(2));
  Workload w = flat(4, 6400, 0);
  RunOptions options = deterministic();
  options.threads = 4;
  const Result result = run(w, options);
  EXPECT_EQ(result.local_share(), 1);
  // Four at half a byte a nanosecond, bar the picoseconds in which they were created.
  EXPECT_NEAR(static_cast<double>(result.makespan), 12800e3, 10);
}

// Tasks of tasks, with waits of both kinds, an undeferred one, and dependences.
Workload tangled(std::uint32_t width, std::uint32_t producers) {
  constexpr std::uint64_t kPart = 8192;
  Steps b(width * 3 * kPart, FirstTouch::by_parts);
  b.task({});
  std::vector<Step> steps;
  std::vector<TaskIndex> before;
  if (producers > 1) {
    b.w.producers = producers;
    for (std::uint32_t i = 0; i < producers; ++i) {
      const TaskIndex child = b.task({b.work(500, {reads(i % width * kPart, kPart)})});
      const TaskIndex grandchild = b.task({b.work(700)});
      steps.push_back(create(b.task({b.work(100), create(child), create(grandchild)})));
    }
    steps.push_back(wait_all());
  }
  for (std::uint32_t i = 0; i < width; ++i) {
    const TaskIndex leaf = b.task({b.work(300, {reads(3 * i * kPart, kPart)})});
    const TaskIndex deep = b.task({create(leaf), b.work(200), step(Step::Kind::task_wait, 0), b.work(50)});
    const TaskIndex orphan = b.task({b.work(5000, {reads((3 * i + 1) * kPart, kPart)})});
    const TaskIndex middle = b.task({create(orphan), b.work(10)});
    Access written = reads((3 * i + 2) * kPart, kPart);
    written.mode = placement::Access::read_write;
    std::vector<TaskIndex> after;
    if (i >= 2) after = {before[i - 1], before[i - 2]};
    const TaskIndex chained = b.task({b.work(400, {written})});
    b.w.tasks[chained].first_predecessor = static_cast<std::uint32_t>(b.w.predecessors.size());
    b.w.tasks[chained].predecessors = static_cast<std::uint32_t>(after.size());
    b.w.predecessors.insert(b.w.predecessors.end(), after.begin(), after.end());
    before.push_back(chained);
    for (const TaskIndex child : {deep, middle, chained}) steps.push_back(create(child));
    if (i % 8 == 7) {
      const TaskIndex at_once = b.task({b.work(30)}, {chained});
      steps.push_back(step(Step::Kind::run, at_once));
    }
    if (i % 16 == 15) steps.push_back(step(Step::Kind::task_wait, 0));
  }
  steps.push_back(wait_all());
  b.root(steps);
  return b.w;
}

std::uint64_t accessed(const Workload& w) {
  std::uint64_t sum = 0;
  for (const Access& access : w.accesses) sum += access.length * access.rows;
  return sum;
}

TEST_F(Engine, EveryTaskEndsUnderEveryPolicyAndNoByteIsLost) {
  parameters.create_ns = known(300);
  parameters.take_ns = known(50);
  parameters.steal_ns = known(200);
  parameters.steal_hop_ns = known(100);
  parameters.deal_ns = known(250);
  parameters.wake_ns = known(5000);
  for (const std::uint32_t producers : {1u, 5u, 48u, 100u}) {
    const Workload w = tangled(200, producers);
    for (std::size_t i = 0; const policy::TaskPolicy* policy = policy::policy_at(i); ++i)
      for (const std::uint32_t threads : {1u, 2u, 7u, 48u})
        for (const policy::Threshold threshold :
             {policy::Threshold::hops, policy::Threshold::slit, policy::Threshold::none})
          for (const placement::Kind kind : {placement::Kind::standard, placement::Kind::fine,
                                             placement::Kind::coarse, placement::Kind::blocked}) {
            RunOptions options;
            options.policy = policy;
            options.threads = threads;
            options.seating = threads == 7 ? Seating::spread : Seating::close;
            options.threshold = threshold;
            options.significance = producers == 5 ? policy::Significance::paper : policy::Significance::gain;
            options.distribution.kind = kind;
            options.seed = threads + producers;
            options.deterministic = producers == 48;
            const Result result = simulate(w, machine, parameters, options);
            ASSERT_EQ(result.unfinished, 0u) << policy->name() << " " << threads << " " << producers;
            ASSERT_EQ(result.bytes() + result.cache_hits, accessed(w));
            Time cycles = 0;
            for (const Work& work : w.works) cycles += work.cycles * kNs;
            Time worked = 0;
            std::uint64_t tasks = 0;
            for (const WorkerResult& worker : result.workers) {
              worked += worker.work;
              tasks += worker.tasks;
              ASSERT_EQ(worker.work + worker.create + worker.search + worker.wait, result.makespan);
            }
            ASSERT_EQ(tasks, w.tasks.size());
            ASSERT_GE(worked, cycles);
            ASSERT_GE(result.makespan * threads, worked);
          }
  }
}

bool same(const Result& a, const Result& b) {
  if (a.workers.size() != b.workers.size()) return false;
  for (std::size_t i = 0; i < a.workers.size(); ++i) {
    const WorkerResult &x = a.workers[i], &y = b.workers[i];
    if (x.work != y.work || x.create != y.create || x.search != y.search || x.tasks != y.tasks) return false;
  }
  return a.makespan == b.makespan && a.misses == b.misses && a.steals == b.steals && a.deals == b.deals &&
         a.weighted_remote == b.weighted_remote && a.solutions == b.solutions;
}

class EngineOfPolicy : public Simulated, public testing::WithParamInterface<std::size_t> {
 protected:
  EngineOfPolicy() {
    parameters.create_ns = known(300);
    parameters.take_ns = known(50);
    parameters.steal_ns = known(200);
    parameters.deal_ns = known(250);
    parameters.memory_gbs.assign(8, known(2));
    options.policy = policy::policy_at(GetParam());
    options.distribution.kind = placement::Kind::blocked;
    options.threads = 48;
  }
  RunOptions options;
};

TEST_P(EngineOfPolicy, TheSameSeedGivesTheSameBytesAndAnotherSeedAnotherRace) {
  const Workload w = tangled(100, 1);
  const Result first = run(w, options);
  EXPECT_TRUE(same(first, run(w, options)));
  options.seed = 2;
  EXPECT_FALSE(same(first, run(w, options)));
  options.deterministic = true;
  const Result without_races = run(w, options);
  options.seed = 3;
  EXPECT_TRUE(same(without_races, run(w, options)));
}

TEST_P(EngineOfPolicy, SharingOutALittleLaterIsCheaperAndHardlyDifferent) {
  const Workload w = flat(3000, 32768, 1000);
  options.deterministic = true;
  const Result late = run(w, options);
  options.grain = 0;
  const Result exact = run(w, options);
  EXPECT_LT(late.solutions, exact.solutions);
  EXPECT_NEAR(static_cast<double>(late.makespan), static_cast<double>(exact.makespan),
              0.02 * static_cast<double>(exact.makespan));
}

TEST_P(EngineOfPolicy, OneTaskForEachLocationWaitsNowhereForEver) {
  // One worker at each of three locations; the tasks' data lies at all eight, and the creator waits.
  Steps b(8 * 65536);
  b.task({});
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 8; ++i)
    steps.push_back(create(b.task({b.work(100, {reads(i * 65536, 65536)})})));
  steps.push_back(step(Step::Kind::task_wait, 0));
  b.root(steps);
  options.seating = Seating::spread;
  for (const std::uint32_t threads : {1u, 2u, 3u, 8u})
    for (const policy::Threshold threshold :
         {policy::Threshold::hops, policy::Threshold::slit, policy::Threshold::none})
      for (const bool races : {false, true})
        for (const std::int32_t vicinity : {0, 1, 4}) {
          options.threads = threads;
          options.threshold = threshold;
          options.deterministic = !races;
          options.vicinity = vicinity;
          EXPECT_EQ(run(b.w, options).unfinished, 0u);
        }
}

INSTANTIATE_TEST_SUITE_P(All, EngineOfPolicy, testing::Range<std::size_t>(0, [] {
                           std::size_t count = 0;
                           while (policy::policy_at(count) != nullptr) ++count;
                           return count;
                         }()));

TEST_F(Engine, OneCreatorFeedsTheOthersAsFastAsItCreates) {
  parameters.create_ns = known(100);
  parameters.steal_ns = known(40);
  const Workload w = flat(10, 0, 1000);
  const Result result = run(w, deterministic());
  // The last is there after 1000 ns, and its creator has nothing else to do.
  EXPECT_EQ(result.makespan, 2000 * kNs);
  EXPECT_EQ(result.workers[0].create, 1000 * kNs);
  EXPECT_EQ(result.steals, 9u);
  EXPECT_EQ(result.workers[1].search, 40 * kNs);
}

TEST_F(Engine, OneWorkerRunsTasksAsItCreatesThem) {
  parameters.create_ns = known(100);
  RunOptions options = deterministic("locality");
  options.threads = 1;
  options.distribution.kind = placement::Kind::fine;
  const Result result = run(flat(10, 4096, 1000), options);
  EXPECT_EQ(result.deals, 0u);
  EXPECT_EQ(result.workers[0].search, 0u);
  EXPECT_EQ(result.workers[0].create, 1000 * kNs);
  EXPECT_EQ(result.workers[0].wait, 0u);
}

TEST_F(Engine, TasksAreDealtToTheirData) {
  parameters.create_ns = known(100);
  parameters.deal_ns = known(300);
  parameters.take_ns = known(10);
  // The data of each task is a block of a location, and far more than a task is worth dealing for.
  Steps b(48 << 20);
  b.task({});
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 48; ++i)
    steps.push_back(create(b.task({b.work(0, {reads(std::uint64_t{i} << 20, 1 << 20)})})));
  steps.push_back(wait_all());
  b.root(steps);
  RunOptions options = deterministic("locality");
  options.distribution.kind = placement::Kind::blocked;
  std::vector<Location> chosen;
  std::vector<std::uint64_t> need;
  options.log = [&](const Decision& decision) {
    chosen.push_back(decision.chosen);
    need.push_back(decision.need.read.at[decision.chosen]);
    EXPECT_EQ(decision.task, chosen.size());
    EXPECT_EQ(decision.creator, 0);
    EXPECT_EQ(decision.load.staffed, 0xffu);
  };
  const Result result = run(b.w, options);
  EXPECT_EQ(result.deals, 48u);
  EXPECT_EQ(result.local_share(), 1);
  EXPECT_EQ(result.steals, 0u);
  ASSERT_EQ(chosen.size(), 48u);
  for (std::size_t i = 0; i < 48; ++i) {
    EXPECT_EQ(chosen[i], static_cast<Location>(i / 6));
    EXPECT_EQ(need[i], 1u << 20);
  }
  EXPECT_EQ(result.workers[0].create, 48 * 400 * kNs);
  for (const WorkerResult& worker : result.workers) EXPECT_LE(worker.tasks, 2u);
}

TEST_F(Engine, MarkedAccessesDecideAlone) {
  Steps b(16 << 20);
  b.task({});
  Access decides = reads(14 << 20, 1 << 20);
  decides.intense = true;
  Access hidden = reads(6 << 20, 1 << 20);
  hidden.declared = false;
  const TaskIndex marked = b.task({b.work(0, {reads(2 << 20, 2 << 20), decides, hidden})});
  b.root({create(marked), wait_all()});
  RunOptions options = deterministic("locality");
  options.distribution.kind = placement::Kind::blocked;
  int calls = 0;
  options.log = [&](const Decision& decision) {
    ++calls;
    EXPECT_TRUE(decision.need.decided);
    EXPECT_EQ(decision.need.read.known(), 1u << 20);
    EXPECT_EQ(decision.chosen, 7);
  };
  EXPECT_EQ(run(b.w, options).missed(7, 7), 1u << 20);
  EXPECT_EQ(calls, 1);
}

TEST_F(Engine, OfAClauseThePolicySeesWhatTheRuntimeCanTell) {
  // `out` might be `inout`; a call says which it is, and that the task should be there.
  for (const bool stated : {false, true}) {
    Steps b(16 << 20);
    b.task({});
    Access written = reads(2 << 20, 1 << 20);
    written.mode = placement::Access::write;
    written.stated = stated;
    b.root({create(b.task({b.work(0, {written})})), wait_all()});
    RunOptions options = deterministic("locality");
    int calls = 0;
    options.log = [&](const Decision& decision) {
      ++calls;
      EXPECT_EQ(decision.need.written.known(), 1u << 20);
      EXPECT_EQ(decision.need.read.known(), stated ? 0u : 1u << 20);
      EXPECT_EQ(decision.stated, stated);
      EXPECT_FALSE(decision.released);
    };
    run(b.w, options);
    EXPECT_EQ(calls, 1);
  }
}

TEST_F(Engine, DistancesDecideWhoIsNearest) {
  // Half of the bytes at location 1, half at 2: whichever is nearer to the other and to itself; a change of
  // one distance changes the choice.
  Steps b(16 << 20);
  b.task({});
  b.root({create(b.task({b.work(0, {reads(2 << 20, 4 << 20)})})), wait_all()});
  RunOptions options = deterministic("locality");
  options.distribution.kind = placement::Kind::blocked;
  Location chosen = -2;
  options.log = [&](const Decision& decision) { chosen = decision.chosen; };
  machine.location_distance.at(1, 2) = 14;
  run(b.w, options);
  EXPECT_EQ(chosen, 1);
  machine.location_distance.at(2, 1) = 12;
  run(b.w, options);
  EXPECT_EQ(chosen, 2);
}

TEST_F(Engine, ImplicitTasksRunOnTheirOwnWorkers) {
  Steps b;
  b.task({});
  std::vector<Step> steps;
  for (int i = 0; i < 6; ++i) steps.push_back(create(b.task({b.work(1000)})));
  steps.push_back(wait_all());
  b.root(steps);
  b.w.producers = 6;
  RunOptions options = deterministic();
  options.threads = 4;
  const Result result = run(b.w, options);
  EXPECT_EQ(result.makespan, 2000 * kNs);  // two of them have two
  EXPECT_EQ(result.workers[0].tasks, 3u);  // with task 0
  EXPECT_EQ(result.workers[1].tasks, 2u);
  EXPECT_EQ(result.workers[2].tasks, 1u);
  EXPECT_EQ(result.steals, 0u);
}

TEST_F(Engine, DependencesOrderAndATaskWaitIsForChildrenOnly) {
  Steps b;
  b.task({});
  const TaskIndex grandchild = b.task({b.work(5000)});
  const TaskIndex first = b.task({create(grandchild), b.work(1000)});
  const TaskIndex second = b.task({b.work(1000)}, {first});
  b.root({create(first), create(second), b.work(200), step(Step::Kind::task_wait, 0), b.work(100)});
  RunOptions options = deterministic();
  options.threads = 4;
  // Task 0 is done after 2100 ns; the grandchild ends last.
  const Result result = run(b.w, options);
  EXPECT_EQ(result.workers[0].work, 300 * kNs);
  EXPECT_NEAR(static_cast<double>(result.makespan), 5000e3, 10);
  b.root({create(first), create(second), b.work(200), wait_all(), b.work(100)});
  EXPECT_NEAR(static_cast<double>(run(b.w, options).makespan), 5100e3, 10);
}

// Deciding where a task goes takes time, and only then others see the task: whoever has ended what it waited for is there.
TEST_F(Engine, WhoMakesATaskReadyRunsItThoughDecidingTakesTime) {
  parameters.deal_ns = known(300);
  constexpr std::uint32_t kTasks = 50;
  Steps b(8 * 4096);
  b.task({});
  std::vector<Step> steps;
  TaskIndex last = b.task({b.work(10'000, {reads(0, 8 * 4096)})});
  for (std::uint32_t i = 0; i < kTasks; ++i) {
    steps.push_back(create(last));
    last = b.task({b.work(10'000, {reads(0, 8 * 4096)})}, {last});
  }
  steps.push_back(create(last));
  steps.push_back(wait_all());
  b.root(steps);
  RunOptions options = deterministic("locality");
  options.distribution.kind = placement::Kind::fine;  // nowhere is better
  options.threads = 2;
  EXPECT_LE(run(b.w, options).steals, 1u);
}

// Of tasks whose data lies everywhere, two rounds, of which each second one follows a first on its data. Who
// is cut off runs a first one before it has made any second.
TEST_F(Engine, ACreatorWithOthersNearIsNotCutOffFromWhatThePolicyLeavesIt) {
  constexpr std::uint64_t kBytes = 32 * 4096;
  constexpr std::uint32_t kTasks = 200;
  Steps b(kTasks * kBytes);
  b.task({});
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < kTasks; ++i)
    steps.push_back(create(b.task({b.work(100'000, {reads(i * kBytes, kBytes)})})));
  for (std::uint32_t i = 0; i < kTasks; ++i)
    steps.push_back(create(b.task({b.work(100'000, {reads(i * kBytes, kBytes)})}, {i + 1})));
  steps.push_back(wait_all());
  b.root(steps);
  const auto steals = [&](const char* policy, Seating seating, std::uint32_t cutoff) {
    RunOptions options = deterministic(policy);
    options.distribution.kind = placement::Kind::fine;
    options.seating = seating;
    options.task_cutoff = cutoff;
    return run(b.w, options).steals;
  };
  constexpr std::uint32_t kNever = 0, kSoon = 8;
  EXPECT_EQ(steals("adaptive", Seating::close, kSoon), steals("adaptive", Seating::close, kNever));
  EXPECT_EQ(steals("home-cache", Seating::close, kSoon), steals("home-cache", Seating::close, kNever));
  EXPECT_NE(steals("work-stealing", Seating::close, kSoon), steals("work-stealing", Seating::close, kNever));
  constexpr Seating kAlone = Seating::one_per_location;
  EXPECT_NE(steals("adaptive", kAlone, kSoon), steals("adaptive", kAlone, kNever)) << "none is near";
  EXPECT_EQ(steals("home-cache", kAlone, kSoon), steals("home-cache", kAlone, kNever));
}

TEST_F(Engine, ASleeperTakesLongerToComeThanASpinner) {
  parameters.wake_ns = known(5000);
  Steps b;
  b.task({});
  const TaskIndex soon = b.task({b.work(100)});
  const TaskIndex late = b.task({b.work(100)});
  b.root({create(soon), b.work(3'000'000), create(late), b.work(50'000)});
  RunOptions options = deterministic();
  options.threads = 2;
  const Result result = run(b.w, options);
  EXPECT_EQ(result.workers[1].tasks, 2u);
  EXPECT_EQ(result.workers[1].search, 5000 * kNs);
  // Who has never had anything sleeps, too.
  b.root({b.work(3'000'000), create(soon), b.work(50'000), create(late), b.work(50'000)});
  EXPECT_EQ(run(b.w, options).workers[1].search, 5000 * kNs);
}

TEST_F(Engine, WorkersSitWhereTheyAreTold) {
  const Workload w = flat(1, 0, 1);
  const auto locations = [&](Seating seating, std::uint32_t threads) {
    RunOptions options = deterministic();
    options.seating = seating;
    options.threads = threads;
    std::vector<Location> where;
    for (const WorkerResult& worker : run(w, options).workers) where.push_back(worker.location);
    return where;
  };
  using Where = std::vector<Location>;
  EXPECT_EQ(locations(Seating::close, 8), (Where{0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(locations(Seating::spread, 4), (Where{0, 2, 4, 6}));
  EXPECT_EQ(locations(Seating::one_per_location, 0), (Where{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(locations(Seating::close, 0).size(), 48u);
  EXPECT_EQ(locations(Seating::close, 1000).size(), 48u);
}

TEST_F(Engine, InTheBarrierTheInitialThreadIsAsPatientAsTheOthers) {
  // Two tasks for each node; the initial thread has run its own after 2 ms, the others begin their second
  // after 4.
  Steps b(4096);
  b.w.regions.resize(8, b.w.regions[0]);
  b.task({});
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 16; ++i) {
    Access access = reads(0, 4096);
    access.region = i % 8;
    steps.push_back(create(b.task({b.work(i % 8 == 0 ? 1'000'000 : 4'000'000, {access})})));
  }
  steps.push_back(wait_all());
  b.root(steps);
  RunOptions options = deterministic("locality");
  options.seating = Seating::one_per_location;
  options.distribution.kind = placement::Kind::coarse;
  const Result result = run(b.w, options);
  EXPECT_EQ(result.far_steals, 0u);
  for (const WorkerResult& worker : result.workers) EXPECT_GE(worker.tasks, 2u);
}

TEST_F(Engine, ProgressCanEndIt) {
  RunOptions options = deterministic();
  std::uint64_t told = 0;
  options.progress = [&](std::uint64_t ended) {
    told = ended;
    return false;
  };
  const Result result = run(flat(20'000, 64, 10), options);
  EXPECT_GT(told, 0u);
  EXPECT_EQ(result.tasks + result.unfinished, 20'001u);
  EXPECT_GT(result.unfinished, 0u);
}

// ---- History

// Each task waits for two children of its own, the second of which follows the first.
Workload families(std::uint32_t count) {
  Steps b(count * 6400);
  b.task({});
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < count; ++i) {
    const TaskIndex first = b.task({b.work(500, {writes(i * 6400, 6400)})});
    const TaskIndex second = b.task({b.work(300, {reads(i * 6400, 6400)})}, {first});
    const Step before = b.work(700), after = b.work(200);
    steps.push_back(create(b.task({before, create(first), create(second), step(Step::Kind::task_wait, 0), after})));
  }
  steps.push_back(wait_all());
  b.root(steps);
  return b.w;
}

TEST_F(Engine, AHistoryChangesNothing) {
  const Workload w = families(40);
  for (const char* policy : {"work-stealing", "locality", "adaptive", "central"}) {
    RunOptions options;
    options.policy = policy::find_policy(policy);
    options.threads = 12;
    const Result without = run(w, options);
    History history;
    options.history = &history;
    const Result with = run(w, options);
    EXPECT_EQ(with.makespan, without.makespan) << policy;
    EXPECT_EQ(with.misses, without.misses) << policy;
    EXPECT_EQ(with.steals, without.steals) << policy;
  }
}

TEST_F(Engine, AHistoryTellsAllThatWasDone) {
  const Workload w = families(40);
  RunOptions options;
  options.policy = policy::find_policy("locality");
  options.threads = 12;
  History history;
  options.history = &history;
  const Result result = run(w, options);
  ASSERT_EQ(history.tasks.size(), w.tasks.size() + 11);
  // A worker is at one task at a time, all the time.
  std::vector<Time> until(12, 0), ran(history.tasks.size(), 0);
  for (const History::Span& span : history.spans) {
    EXPECT_GE(span.begin, until[span.worker]);
    EXPECT_GT(span.end, span.begin);
    until[span.worker] = span.end;
    ran[span.task] += span.end - span.begin;
  }
  for (std::uint32_t worker = 0; worker < 12; ++worker) EXPECT_EQ(until[worker], result.makespan);
  Time work = 0;
  for (TaskIndex t = 0; t < history.tasks.size(); ++t) {
    const History::TaskTimes& times = history.tasks[t];
    EXPECT_EQ(times.ran, ran[t]);
    EXPECT_LE(times.begin, times.end);
    EXPECT_LE(times.waited + times.creating, times.ran);
    if (t == 0 || t >= w.tasks.size()) continue;
    EXPECT_LE(times.created + times.creation, times.begin);
    work += times.ran - times.waited - times.creating;
  }
  for (const History::Waited& wait : history.waits) EXPECT_LE(wait.idle, wait.end - wait.begin);
  // What is neither waiting nor creating is bodies of tasks, releasing successors, and getting the next one in a wait.
  Time bodies = 0;
  for (const WorkerResult& worker : result.workers) bodies += worker.work;
  EXPECT_GE(work, bodies);
  EXPECT_LT(static_cast<double>(work), 1.01 * static_cast<double>(bodies));
}

}  // namespace
}  // namespace hearth::sim
