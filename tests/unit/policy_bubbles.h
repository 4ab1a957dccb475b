// Modelled machines and programs for the tests of bubble policies: so many nodes, caches and cores, and teams with memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "policy/bubble_policy.h"
#include "topology/model.h"

namespace hearth::policy {

/// A machine, its places and its costs. Lines: 80 ns near, 10 for each step of distance more.
class Bench {
 public:
  struct Shape {
    int packages = 1, nodes = 1, caches = 1, cores = 1, threads = 1;
  };
  explicit Bench(const Shape& shape) {
    const std::string text = "schema = 1\nname = \"test\"\ntitle = \"test\"\n[structure]\nmark = \"A\"\npackages = " +
                             std::to_string(shape.packages) + "\nnodes_per_package = " + std::to_string(shape.nodes) +
                             "\nllcs_per_node = " + std::to_string(shape.caches) +
                             "\ncores_per_llc = " + std::to_string(shape.cores) +
                             "\nthreads_per_core = " + std::to_string(shape.threads) + "\n";
    take(topology::parse_model(text, "test"));
  }
  explicit Bench(const char* model) {
    take(topology::load_model(std::string(HEARTH_SOURCE_DIR "/models/") + model + ".toml"));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::int32_t locations() const { return places.locations(); }

  topology::Machine machine;
  PlaceTree places;

 private:
  void take(topology::LoadedMachine loaded) {
    if (!loaded.ok()) ADD_FAILURE() << loaded.error;
    machine = std::move(loaded.machine);
    const auto count = static_cast<std::int32_t>(machine.locations.size());
    place_memory_.resize(PlaceTree::bytes_for(machine) / 8 + 1);
    places.fill(machine, count, topology::core_level, place_memory_.data());
    cost_memory_->fill(machine, count);
  }
  std::unique_ptr<CostModel> cost_memory_ = std::make_unique<CostModel>();
  std::vector<std::uint64_t> place_memory_;

 public:
  CostModel& costs = *cost_memory_;
};

/// A program: a tree of bubbles, and where everybody is.
class Program {
 public:
  explicit Program(Bench& on, std::int32_t entities = 4096, std::int32_t attachments = 4096) : bench(on) {
    const BubbleTree::Room room{.entities = entities, .attachments = attachments, .locations = on.locations()};
    tree_memory_.resize(BubbleTree::bytes_for(room) / 8 + 1);
    tree.begin(room, tree_memory_.data());
    place.assign(static_cast<std::size_t>(entities), kNoPlace);
  }

  EntityId team(int threads, EntityId inside = BubbleTree::kRoot, float load = 1) {
    const EntityId bubble = tree.add_bubble(inside);
    for (int i = 0; i < threads; ++i) thread(bubble, load);
    return bubble;
  }
  EntityId thread(EntityId inside, float load = 1) {
    const EntityId one = tree.add_thread(inside);
    tree[one].load = load;
    return one;
  }
  placement::AttachmentId give(EntityId owner, std::uint64_t bytes, Location where,
                               placement::Access access = placement::Access::read) {
    placement::Shares shares(bench.locations());
    shares.add(where, bytes);
    return tree.attach(owner, {.access = access}, shares);
  }
  void distribute(const char* word, EntityId top = BubbleTree::kRoot, PlaceId within = placement::kWholeMachine) {
    tree.sum_up();
    scratch_.resize(planning_bytes(tree, bench.places) / 8 + 1);
    policy::distribute(find_bubbles(word), tree, bench.places, bench.costs, top, within, place.data(), scratch_.data());
  }
  Standing standing() const { return {tree, bench.places, bench.costs, place.data()}; }

  PlaceId at(EntityId entity) const { return place[static_cast<std::size_t>(entity)]; }
  /// The location of a thread, or of a bubble that is at one.
  Location location(EntityId entity) const { return bench.places[at(entity)].location; }
  /// The only CPU that a thread may run on, or -1.
  int cpu(EntityId thread) const {
    return bench.places[at(thread)].cpus == 1 ? static_cast<int>(*bench.places.cpus(at(thread))) : -1;
  }
  EntityId inside(EntityId bubble, int index) const {
    EntityId e = tree[bubble].first_inside;
    for (; index > 0; --index) e = tree[e].next;
    return e;
  }
  std::vector<EntityId> threads(EntityId top = BubbleTree::kRoot) const {
    std::vector<EntityId> all;
    for (EntityId e = top; e != kNoEntity; e = tree.next_inside(e, top))
      if (tree[e].is_thread) all.push_back(e);
    return all;
  }
  /// By CPU: how many threads have just that one.
  std::vector<int> threads_by_cpu() const {
    std::vector<int> count(bench.machine.cpus.size());
    for (const EntityId thread : threads())
      if (cpu(thread) >= 0) ++count[static_cast<std::size_t>(cpu(thread))];
    return count;
  }
  std::vector<float> load_by_location() const {
    std::vector<float> load(static_cast<std::size_t>(bench.locations()));
    for (const EntityId thread : threads())
      if (location(thread) >= 0) load[static_cast<std::size_t>(location(thread))] += tree[thread].load;
    return load;
  }
  /// Everybody has run where it is now.
  void run() {
    ++now_;
    for (const EntityId thread : threads()) {
      tree[thread].last_cpu = *bench.places.cpus(at(thread));
      tree[thread].last_ran = now_;
    }
  }

  Bench& bench;
  BubbleTree tree;
  std::vector<PlaceId> place;

 private:
  std::vector<std::uint64_t> tree_memory_, scratch_;
  std::uint32_t now_ = 0;
};

}  // namespace hearth::policy
