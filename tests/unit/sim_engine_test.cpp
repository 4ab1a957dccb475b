// The simulator on cases that can be worked out by hand, and what must hold of any run.
#include "sim/engine.h"

#include <string>

#include <gtest/gtest.h>

#include "policy/policies.h"
#include "sim_machines.h"

namespace hearth::sim {
namespace {

constexpr Time kNs = 1000;

Step step(Step::Kind kind, std::size_t index) {
  Step step;
  step.kind = kind;
  step.index = static_cast<std::uint32_t>(index) & kMaxIndex;
  return step;
}

// Workloads, step by step.
struct Builder {
  Workload w;

  explicit Builder(std::uint64_t region_bytes = 1 << 20, FirstTouch touch = FirstTouch::initial_thread) {
    w.name = "test";
    w.regions.push_back({"a", region_bytes, touch, true});
    w.kinds = {"task"};
  }
  TaskIndex task(std::initializer_list<Step> steps, std::initializer_list<TaskIndex> predecessors = {}) {
    Task task;
    task.first_step = static_cast<std::uint32_t>(w.steps.size());
    task.steps = static_cast<std::uint32_t>(steps.size());
    w.steps.insert(w.steps.end(), steps);
    task.first_predecessor = static_cast<std::uint32_t>(w.predecessors.size());
    task.predecessors = static_cast<std::uint32_t>(predecessors.size());
    w.predecessors.insert(w.predecessors.end(), predecessors);
    w.tasks.push_back(task);
    return static_cast<TaskIndex>(w.tasks.size() - 1);
  }
  Step work(std::uint64_t cycles, std::initializer_list<Access> accesses = {}) {
    w.works.push_back(
        {cycles, static_cast<std::uint32_t>(w.accesses.size()), static_cast<std::uint32_t>(accesses.size())});
    w.accesses.insert(w.accesses.end(), accesses);
    return step(Step::Kind::work, w.works.size() - 1);
  }
  // Task 0, which was reserved as the first, makes `children`, all that there are.
  void root(const std::vector<Step>& steps) {
    w.tasks[0].first_step = static_cast<std::uint32_t>(w.steps.size());
    w.tasks[0].steps = static_cast<std::uint32_t>(steps.size());
    w.steps.insert(w.steps.end(), steps.begin(), steps.end());
  }
};

Access reads(std::uint64_t offset, std::uint64_t bytes) {
  Access access;
  access.offset = offset;
  access.length = bytes;
  return access;
}
Step create(TaskIndex task) { return step(Step::Kind::create, task); }
Step wait_all() { return step(Step::Kind::wait_all, 0); }

RunOptions deterministic(const char* policy = "work-stealing") {
  RunOptions options;
  options.policy = policy::find_policy(policy);
  options.deterministic = true;
  options.grain = 0;
  return options;
}

class Engine : public testing::Test {
 protected:
  Result run(const Workload& workload, const RunOptions& options) {
    EXPECT_EQ(workload.inconsistency(), "");
    return simulate(workload, machine, parameters, options);
  }
  topology::Machine machine = model("opteron-6172x4");
  Parameters parameters = plain_parameters(machine);
};

// `count` tasks that each read their part of the region.
Workload flat(std::uint32_t count, std::uint64_t bytes_each, std::uint64_t cycles) {
  Builder b(count * bytes_each);
  b.task({});
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < count; ++i)
    steps.push_back(create(b.task({b.work(cycles, {reads(i * bytes_each, bytes_each)})})));
  steps.push_back(wait_all());
  b.root(steps);
  return b.w;
}

TEST_F(Engine, ComputingTakesItsCycles) {
  Builder b;
  b.task({b.work(1234)});
  const Result result = run(b.w, deterministic());
  EXPECT_EQ(result.makespan, 1234 * kNs);
  EXPECT_EQ(result.tasks, 1u);
  EXPECT_EQ(result.unfinished, 0u);
  EXPECT_EQ(result.bytes(), 0u);
  EXPECT_EQ(result.local_share(), 1);
}

TEST_F(Engine, MemoryTakesTheLatencyOfEachLineAndComputingComesOnTop) {
  Builder b;
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
  // One task local, the other, robbed, far.
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
  Builder b(width * 3 * kPart, FirstTouch::by_parts);
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

}  // namespace
}  // namespace hearth::sim
