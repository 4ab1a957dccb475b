// links: hearth_policy hearth_placement hearth_topology
// What placing teams costs: a plan for so many threads in nested teams, the question whether new hints contradict it, and
// the sums before both. The machine is a model: two sockets, eight nodes, 192 cores.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "policy/relocation.h"
#include "topology/model.h"

namespace {

using namespace hearth::placement;
using namespace hearth::policy;

// Teams of eight, each thread with three vectors, which are where their team is (agreeing) or at the next one's.
struct Program {
  Program(int threads, bool agreeing) {
    hearth::topology::LoadedMachine loaded = hearth::topology::load_model(HEARTH_SOURCE_DIR
                                                                          "/models/epyc-9654x2-nps4.toml");
    machine = std::move(loaded.machine);
    locations = static_cast<std::int32_t>(machine.locations.size());
    place_memory.resize(PlaceTree::bytes_for(machine) / 8 + 1);
    places.fill(machine, locations, hearth::topology::core_level, place_memory.data());
    costs->fill(machine, locations);
    const BubbleTree::Room room{.entities = 2 * threads, .attachments = 3 * threads, .locations = locations};
    tree_memory.resize(BubbleTree::bytes_for(room) / 8 + 1);
    tree.begin(room, tree_memory.data());
    place.assign(static_cast<std::size_t>(2 * threads), kNoPlace);
    for (int team = 0; team < threads / 8; ++team) {
      const EntityId bubble = tree.add_bubble(BubbleTree::kRoot);
      for (int i = 0; i < 8; ++i) tree.add_thread(bubble);
    }
    tree.sum_up();
    scratch.resize(planning_bytes(tree, places) / 8 + 1);
    plan();
    for (EntityId e = 0; e < tree.entities(); ++e) {
      if (!tree[e].is_thread) continue;
      const Location here = places[place[static_cast<std::size_t>(e)]].location;
      Shares bytes(locations);
      bytes.add(agreeing ? here : (here + 1) % locations, 1 << 20);
      for (int vector = 0; vector < 3; ++vector) tree.attach(e, {}, bytes);
    }
    tree.sum_up();
  }
  void plan() {
    distribute(find_bubbles("memory+cache"), tree, places, *costs, BubbleTree::kRoot, kWholeMachine, place.data(),
               scratch.data());
  }

  hearth::topology::Machine machine;
  std::int32_t locations = 0;
  PlaceTree places;
  std::unique_ptr<CostModel> costs = std::make_unique<CostModel>();
  BubbleTree tree;
  std::vector<PlaceId> place;
  std::vector<std::uint64_t> place_memory, tree_memory, scratch;
};

void plan_without_hints(benchmark::State& state) {
  Program program(static_cast<int>(state.range(0)), true);
  for (EntityId e = 0; e < program.tree.entities(); ++e)
    while (program.tree[e].first_attachment != kNoAttachment) program.tree.detach(program.tree[e].first_attachment);
  program.tree.sum_up();
  for (auto _ : state) program.plan();
}
BENCHMARK(plan_without_hints)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

void plan_by_hints(benchmark::State& state) {
  Program program(static_cast<int>(state.range(0)), false);
  for (auto _ : state) program.plan();
}
BENCHMARK(plan_by_hints)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

// Every thread's memory is with the next team: all ways to place threads and memory are weighed.
void relocation(benchmark::State& state) {
  Program program(static_cast<int>(state.range(0)), false);
  const Standing standing{program.tree, program.places, *program.costs, program.place.data()};
  std::vector<std::uint64_t> memory(relocation_bytes(program.tree, program.places) / 8 + 1);
  std::vector<PlaceId> place(program.place.size());
  std::vector<Location> target(static_cast<std::size_t>(program.tree.attachments()));
  for (auto _ : state)
    benchmark::DoNotOptimize(plan_relocation(find_bubbles("memory+cache"), standing, BubbleTree::kRoot, {.passes = 10},
                                             place.data(), target.data(), memory.data()));
}
BENCHMARK(relocation)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

void sum_up(benchmark::State& state) {
  Program program(static_cast<int>(state.range(0)), false);
  for (auto _ : state) program.tree.sum_up();
}
BENCHMARK(sum_up)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

void agreeing_hints_of_a_team(benchmark::State& state) {
  Program program(64, true);
  const EntityId team = program.tree[BubbleTree::kRoot].first_inside;
  const Standing standing{program.tree, program.places, *program.costs, program.place.data()};
  for (auto _ : state) {
    program.tree.sum_up(team);
    benchmark::DoNotOptimize(contradicted_by_hints(standing, team));
  }
}
BENCHMARK(agreeing_hints_of_a_team);

}  // namespace
