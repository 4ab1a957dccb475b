// Finding bubble policies by name, distributing a tree by them, and what its hints say about who is where.
#include <cstring>

#include "base/bubbles.h"
#include "policy/distribution.h"

namespace hearth::policy {

BubbleStack bubbles_at(std::size_t index) {
  std::size_t at = 0;
#define HEARTH_BUBBLES(above, inside, word, meaning) \
  if (index == at++) return {above, inside, word};
#include "base/bubbles.def"
#undef HEARTH_BUBBLES
  return {};
}

BubbleStack find_bubbles(const char* word) {
  for (std::size_t i = 0;; ++i) {
    const BubbleStack stack = bubbles_at(i);
    if (stack.name == nullptr || std::strcmp(stack.name, word) == 0) return stack;
  }
}

std::size_t planning_bytes(const BubbleTree& tree, const PlaceTree& places) {
  return Distribution::bytes_for(tree, places);
}

void distribute(const BubbleStack& stack, const BubbleTree& tree, const PlaceTree& places, const CostModel& costs,
                EntityId top, PlaceId within, PlaceId* place, void* memory) {
  HEARTH_ASSERT(stack.above != nullptr && stack.inside != nullptr, "no policy places bubbles: %s", stack.name);
  Distribution distribution(tree, places, costs, place, memory);
  distribution.begin(top, within);
  distribution.run(stack, top, within);
}

Location drawn_to(const BubbleTree& tree, const PlaceTree& places, const CostModel& costs, EntityId entity) {
  const Location most = tree.favourite(entity);
  if (most == kUnknown || places.place_of_location(most) != kNoPlace) return most;
  Location nearest = kUnknown;
  for (Location i = 0; i < places.locations(); ++i) {
    if (places.place_of_location(i) == kNoPlace) continue;
    if (nearest == kUnknown || costs.read_line_ns(i, most) < costs.read_line_ns(nearest, most)) nearest = i;
  }
  return nearest;
}

namespace {

std::uint64_t bit(Location where) { return std::uint64_t{1} << where; }

// The locations whose CPUs a place has, as bits.
std::uint64_t locations_of(const PlaceTree& places, PlaceId place) {
  if (place == kNoPlace) return 0;
  if (places[place].location != kUnknown) return bit(places[place].location);
  std::uint64_t all = 0;
  for (Location i = 0; i < places.locations(); ++i) {
    const PlaceId there = places.place_of_location(i);
    if (there != kNoPlace && places.holds(place, there)) all |= bit(i);
  }
  return all;
}

EntityId smallest_with(const BubbleTree& tree, EntityId one, EntityId other) {
  while (!tree.is_inside(other, one)) one = tree[one].parent;
  return one;
}

}  // namespace

EntityId contradicted_by_hints(const Standing& standing, EntityId bubble) {
  const BubbleTree& tree = standing.tree;
  std::uint64_t wanted = 0;
  EntityId top = kNoEntity;
  for (EntityId e = bubble; e != kNoEntity; e = tree.next_inside(e, bubble)) {
    // Of a bubble only what is attached to itself says more than what is inside.
    if (!tree[e].is_thread && tree[e].first_attachment == placement::kNoAttachment) continue;
    if (tree[e].is_thread && tree[e].seated) continue;
    const Location where = drawn_to(tree, standing.places, standing.costs, e);
    if (where == kUnknown || (locations_of(standing.places, standing.place[e]) & bit(where)) != 0) continue;
    wanted |= bit(where);
    top = top == kNoEntity ? e : smallest_with(tree, top, e);
  }
  if (top == kNoEntity) return kNoEntity;
  if (tree[top].is_thread) top = tree[top].parent;
  while (top != BubbleTree::kRoot) {
    std::uint64_t have = 0;
    for (EntityId e = top; e != kNoEntity; e = tree.next_inside(e, top))
      if (tree[e].is_thread) have |= locations_of(standing.places, standing.place[e]);
    if ((wanted & ~have) == 0) break;
    top = tree[top].parent;
  }
  return top;
}

}  // namespace hearth::policy
