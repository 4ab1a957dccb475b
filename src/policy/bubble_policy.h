// The contract of a bubble policy: which part of the machine each team and thread gets.
//
// Pure objects: they see a tree of bubbles and a tree of places, neither block nor allocate, and any thread may call them on
// trees that nobody changes meanwhile. Runtime, simulator and benchmarks link the very same objects and take them by name.
// Policies are stacked by the level of the machine (Broquedis et al. 2009, 3.1): one deals bubbles to locations, another one
// deals inside a location what the first has put there. How they decide: docs/internals/bubbles.md.
#pragma once

#include <cstddef>

#include "placement/bubble.h"
#include "placement/cost.h"
#include "placement/place_tree.h"

namespace hearth::policy {

using placement::BubbleTree;
using placement::CostModel;
using placement::EntityId;
using placement::kNoEntity;
using placement::kNoPlace;
using placement::kUnknown;
using placement::Location;
using placement::PlaceId;
using placement::PlaceTree;

class Distribution;

/// Who is where: what deciding about bubbles needs to see. `place` is by entity, as distribute() leaves it.
struct Standing {
  const BubbleTree& tree;
  const PlaceTree& places;
  const CostModel& costs;
  const PlaceId* place;
};

class BubblePolicy {
 public:
  /// Called from the outermost place inwards, for each that has something to deal and is no leaf. Deals all that waits
  /// `at` a place to the places inside; false: it stays here, and its threads may run on any CPU of the place.
  virtual bool deal(Distribution& distribution, PlaceId at) const = 0;
  /// All CPUs of the place `idle` have nothing to do: the thread or bubble that had better come here, from the nearest that
  /// has one to spare; kNoEntity: nobody. Only candidates: whether it pays is asked of the costs (relocation.h).
  virtual EntityId steal(const Standing& standing, PlaceId idle) const = 0;

 protected:
  ~BubblePolicy() = default;
};

/// The policies of a word in HEARTH_BUBBLES (base/bubbles.def). Both null: teams are not placed.
struct BubbleStack {
  const BubblePolicy* above = nullptr;   // deals to locations
  const BubblePolicy* inside = nullptr;  // deals inside a location; alone where there is only one
  const char* name = nullptr;

  const BubblePolicy& at(const placement::Place& place) const { return place.location == kUnknown ? *above : *inside; }
};

extern const BubblePolicy& cache_bubbles;
extern const BubblePolicy& memory_bubbles;
extern const BubblePolicy& spread_bubbles;

/// By its word; `name` is null when there is none.
BubbleStack find_bubbles(const char* word);
/// All of them: `index` counts up from 0, a null name ends.
BubbleStack bubbles_at(std::size_t index);

/// Memory for planning: so many bytes, for 8-byte words, used only during a call.
std::size_t planning_bytes(const BubbleTree& tree, const PlaceTree& places);

/// Places for all that is inside `top`, on the CPUs of `within`. `place` has an entry for each entity: those outside `top`
/// say where the others are, kNoPlace if nowhere, and count as load there; those inside are written. A thread gets the place
/// on whose CPUs it may run, a leaf or more; a bubble the smallest place that holds all inside, as have those around `top`.
/// Whoever is seated stays on its last CPU. The tree is summed up.
void distribute(const BubbleStack& stack, const BubbleTree& tree, const PlaceTree& places, const CostModel& costs,
                EntityId top, PlaceId within, PlaceId* place, void* memory);

/// Whether what `bubble` and all inside it have attached contradicts where they are: some thread or bubble has most of its
/// memory at a location where it is not. kNoEntity: it agrees, and nobody has to move. Else the smallest bubble that has
/// what a new distribution needs: its threads are at all of the locations in question.
EntityId contradicted_by_hints(const Standing& standing, EntityId bubble);

/// The location where an entity would like to be: that of most of its memory, or the nearest one to it that has CPUs.
Location drawn_to(const BubbleTree& tree, const PlaceTree& places, const CostModel& costs, EntityId entity);

}  // namespace hearth::policy
