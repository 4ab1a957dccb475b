// links: hearth_sim
// What it costs to simulate a task: workloads of 10^4 to 10^6 tasks with three accesses of 32 KiB each, on 64
// cores in eight nodes whose controllers and links are short of bandwidth most of the time. Counters:
// `us_per_task` (processor time), `bytes_per_task` (the workload and all that the simulation allocates, at
// its largest), `solutions` per task (of the sharing of bandwidth), and the simulated seconds.
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include <benchmark/benchmark.h>

#include "policy/policies.h"
#include "sim/engine/engine.h"
#include "topology/model.h"

namespace {

using namespace hearth;
using namespace hearth::sim;

constexpr const char* kMachine = R"(
schema = 1
name = "bench64"
[structure]
mark = "A"
packages = 2
nodes_per_package = 4
llcs_per_node = 1
cores_per_llc = 8
threads_per_core = 1
[cache]
mark = "A"
l1d_bytes = 32768
llc_level = 3
llc_bytes = 33554432
line_bytes = 64
[distance]
slit = { value = { local = 10, same_package = 12, other_package = 32 }, mark = "A" }
)";

Figure assumed(double value) { return {value, value, value, 'A'}; }

Parameters parameters_of(const topology::Machine& machine) {
  Parameters p;
  const std::size_t nodes = machine.nodes.size();
  p.clock_ghz = assumed(2.5);
  for (PatternSpeed& speed : p.patterns) speed = {assumed(10), assumed(0.7)};
  p.memory_gbs.assign(nodes, assumed(25));
  p.read_ns = topology::Matrix<double>(nodes, 0);
  p.routes.resize(nodes * nodes);
  // Nodes of a package are linked, all with all, and one link joins the packages in each direction.
  for (std::uint32_t from = 0; from < nodes; ++from) {
    for (std::uint32_t to = 0; to < nodes; ++to) {
      p.read_ns.at(from, to) = from == to ? 90 : from / 4 == to / 4 ? 110 : 200;
      if (from == to || from / 4 != to / 4) continue;
      p.routes[from * nodes + to] = {static_cast<std::uint32_t>(p.links.size())};
      p.links.push_back({from, to, assumed(30), 0});
    }
  }
  const auto across = static_cast<std::uint32_t>(p.links.size());
  p.links.push_back({0, 4, assumed(40), 0});
  p.links.push_back({4, 0, assumed(40), 0});
  for (std::uint32_t from = 0; from < nodes; ++from)
    for (std::uint32_t to = 0; to < nodes; ++to)
      if (from / 4 != to / 4) p.routes[from * nodes + to] = {across + from / 4};
  p.remote_occupancy = assumed(1.5);
  p.write_occupancy = assumed(2);
  p.write_latency = assumed(1.5);
  p.llc_bytes = 32 << 20;
  p.private_bytes = 512 << 10;
  p.llc_ns = assumed(20);
  p.create_ns = assumed(200);
  p.deal_ns = assumed(300);
  p.take_ns = assumed(50);
  p.steal_ns = assumed(300);
  p.steal_hop_ns = assumed(100);
  p.backoff_min_ns = assumed(1000);
  p.backoff_max_ns = assumed(128000);
  p.wake_ns = assumed(5000);
  return p;
}

// 64 creators that make as many tasks each, which read two blocks and write a third of one large region.
Workload workload_of(std::uint32_t count) {
  constexpr std::uint64_t kBlock = 32 << 10;
  constexpr std::uint32_t kCreators = 64;
  Workload w;
  w.name = "bench";
  w.kinds = {"task"};
  const std::uint32_t blocks = std::max(count, 1024u);
  w.regions.push_back({"data", blocks * kBlock, FirstTouch::by_parts, true});
  w.producers = kCreators;
  const std::uint32_t each = count / kCreators;
  w.tasks.reserve(std::size_t{each} * kCreators + kCreators + 1);
  w.works.reserve(std::size_t{each} * kCreators);
  w.accesses.reserve(std::size_t{each} * kCreators * 3);
  w.steps.reserve(std::size_t{each} * kCreators * 2 + kCreators + 1);
  const auto add_step = [&w](Step::Kind kind, std::size_t index) {
    Step step;
    step.kind = kind;
    step.index = static_cast<std::uint32_t>(index) & kMaxIndex;
    w.steps.push_back(step);
  };
  w.tasks.resize(1 + kCreators);
  w.tasks[0] = {0, kCreators + 1, 0, 0, 0};
  for (std::uint32_t i = 0; i < kCreators; ++i) add_step(Step::Kind::create, 1 + i);
  add_step(Step::Kind::wait_all, 0);
  std::uint64_t random = 1;
  const auto next_block = [&] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % blocks;
  };
  for (std::uint32_t i = 0; i < kCreators; ++i) {
    w.tasks[1 + i].first_step = static_cast<std::uint32_t>(w.steps.size());
    w.tasks[1 + i].steps = each;
    for (std::uint32_t k = 0; k < each; ++k) add_step(Step::Kind::create, w.tasks.size() + k);
    for (std::uint32_t k = 0; k < each; ++k) {
      w.tasks.push_back({static_cast<std::uint32_t>(w.steps.size()), 1, 0, 0, 0});
      add_step(Step::Kind::work, w.works.size());
      w.works.push_back({20'000, static_cast<std::uint32_t>(w.accesses.size()), 3});
      const std::uint64_t own = std::uint64_t{i} * each + k;
      for (int a = 0; a < 3; ++a) {
        Access access;
        access.offset = (a == 0 ? next_block() : own % blocks) * kBlock;
        access.length = kBlock;
        if (a == 2) {
          access.mode = placement::Access::write;
          access.offset = (own * 7 + 3) % blocks * kBlock;
        }
        w.accesses.push_back(access);
      }
    }
  }
  return w;
}

std::size_t in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void simulating(benchmark::State& state, const char* policy, placement::Kind kind) {
  const topology::LoadedMachine loaded = topology::parse_model(kMachine, "bench64");
  if (!loaded.ok()) {
    state.SkipWithError(loaded.error.c_str());
    return;
  }
  const Parameters parameters = parameters_of(loaded.machine);
  const std::size_t before = in_use();
  const Workload workload = workload_of(static_cast<std::uint32_t>(state.range(0)));
  RunOptions options;
  options.policy = policy::find_policy(policy);
  options.distribution.kind = kind;
  options.threads = 64;
  std::size_t most = 0;
  options.progress = [&](std::uint64_t) {
    most = std::max(most, in_use());
    return true;
  };
  Result result;
  double seconds = 0;
  for (auto _ : state) {
    const double begun = processor_seconds();
    result = simulate(workload, loaded.machine, parameters, options);
    seconds += processor_seconds() - begun;
    if (result.unfinished != 0) state.SkipWithError("tasks were left");
  }
  const auto tasks = static_cast<double>(result.tasks);
  state.counters["us_per_task"] = seconds * 1e6 / tasks / static_cast<double>(state.iterations());
  state.counters["bytes_per_task"] = static_cast<double>(most - before) / tasks;
  state.counters["solutions"] = static_cast<double>(result.solutions) / tasks;
  state.counters["simulated_s"] = static_cast<double>(result.makespan) * 1e-12;
  state.counters["local_share"] = result.local_share();
}

}  // namespace

BENCHMARK_CAPTURE(simulating, stealing_fine, "work-stealing", placement::Kind::fine)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulating, locality_blocked, "locality", placement::Kind::blocked)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulating, central_first_touch, "central", placement::Kind::standard)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);
