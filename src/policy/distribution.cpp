// Distribution: the lists, what is known before dealing, and the walk over the places. The ways of dealing are in dealing.cpp.
#include "policy/distribution.h"

#include <algorithm>

namespace hearth::policy {
namespace {

// Of a place whose CPUs others keep busy, so much is left to be shared all the same.
constexpr float kLeastRoom = 0.01F;

// The smallest place that holds both; either may be none.
PlaceId joined(const PlaceTree& places, PlaceId one, PlaceId other) {
  if (one == kNoPlace || other == kNoPlace) return one == kNoPlace ? other : one;
  return places.common(one, other);
}

}  // namespace

std::size_t Distribution::bytes_for(const BubbleTree& tree, const PlaceTree& places) {
  static_assert(sizeof(Node) % 4 == 0 && sizeof(List) % 4 == 0);
  const auto entities = static_cast<std::size_t>(tree.entities());
  return entities * (sizeof(Node) + sizeof(EntityId)) + static_cast<std::size_t>(places.size()) * sizeof(List);
}

Distribution::Distribution(const BubbleTree& tree, const PlaceTree& places, const CostModel& costs, PlaceId* place,
                           void* memory)
    : tree_(tree),
      places_(places),
      costs_(costs),
      place_(place),
      nodes_(static_cast<Node*>(memory)),
      lists_(reinterpret_cast<List*>(nodes_ + tree.entities())),
      gathered_(reinterpret_cast<EntityId*>(lists_ + places.size())) {}

float Distribution::room(PlaceId at) const {
  const auto cpus = static_cast<float>(places_[at].cpus);
  return std::max(cpus - lists_[at].load_of_others, cpus * kLeastRoom);
}

void Distribution::know_thread(EntityId thread) {
  const placement::Entity& facts = tree_[thread];
  Node& node = nodes_[thread];
  node = Node{};
  if (facts.seated) {
    place_[thread] = places_.leaf_of_cpu(facts.last_cpu);
    return;
  }
  node.load = facts.load;
  node.threads = 1;
  node.last_place = places_.leaf_of_cpu(facts.last_cpu);
  node.last_ran = facts.last_ran;
  if (facts.intensity == placement::Intensity::memory) node.memory_bound = facts.load;
  node.favourite = places_.place_of_location(drawn_to(tree_, places_, costs_, thread));
}

// What is inside is known already.
void Distribution::know_bubble(EntityId bubble) {
  Node& node = nodes_[bubble];
  node = Node{};
  for (EntityId e = tree_[bubble].first_inside; e != kNoEntity; e = tree_[e].next) {
    const Node& inner = nodes_[e];
    node.load += inner.load;
    node.threads += inner.threads;
    node.last_place = joined(places_, node.last_place, inner.last_place);
    node.last_ran = std::max(node.last_ran, inner.last_ran);
    node.favourite = joined(places_, node.favourite, inner.favourite);
    node.memory_bound += inner.memory_bound;
  }
  if (tree_[bubble].first_attachment != placement::kNoAttachment)
    node.favourite = joined(places_, node.favourite,
                            places_.place_of_location(drawn_to(tree_, places_, costs_, bubble)));
}

// Threads outside `top`, and those that are seated, keep the CPUs of their places busy.
void Distribution::count_others(EntityId top) {
  const auto count = [this](EntityId thread) {
    for (PlaceId p = place_[thread]; p != kNoPlace; p = places_[p].parent)
      lists_[p].load_of_others += tree_[thread].load;
  };
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity;) {
    if (e == top) {
      e = tree_.next_beside(e, BubbleTree::kRoot);
      continue;
    }
    if (tree_[e].is_thread) count(e);
    e = tree_.next_inside(e, BubbleTree::kRoot);
  }
  for (EntityId e = top; e != kNoEntity; e = tree_.next_inside(e, top))
    if (tree_[e].is_thread && tree_[e].seated) count(e);
}

void Distribution::begin(EntityId top, PlaceId within) {
  std::fill_n(lists_, places_.size(), List{});
  // Outer before inner; so backwards, what is inside is known first.
  std::int32_t count = 0;
  for (EntityId e = top; e != kNoEntity; e = tree_.next_inside(e, top)) gathered_[count++] = e;
  while (count > 0) {
    const EntityId entity = gathered_[--count];
    if (tree_[entity].is_thread)
      know_thread(entity);
    else
      know_bubble(entity);
  }
  count_others(top);
  insert(top, within, kNoEntity);
  if (!tree_[top].is_thread) burst(top, within);
}

void Distribution::run(const BubbleStack& stack, EntityId top, PlaceId within) {
  // A place is numbered before those inside it.
  for (PlaceId p = within; p < places_.size(); ++p) {
    if (lists_[p].count == 0) continue;
    if (!places_.is_leaf(p) && stack.at(places_[p]).deal(*this, p)) {
      HEARTH_ASSERT(lists_[p].count == 0, "%d are left at place %d after all were dealt", lists_[p].count, p);
      continue;
    }
    for (EntityId e = lists_[p].first; e != kNoEntity; e = nodes_[e].next) settle(e, p);
  }
  std::int32_t count = 0;
  for (EntityId e = top; e != kNoEntity; e = tree_.next_inside(e, top)) gathered_[count++] = e;
  while (count > 0) enclose(gathered_[--count]);
  for (EntityId outer = tree_[top].parent; outer != kNoEntity; outer = tree_[outer].parent) enclose(outer);
}

// A bubble is where everything inside it is.
void Distribution::enclose(EntityId bubble) {
  PlaceId all = kNoPlace;
  for (EntityId e = tree_[bubble].first_inside; e != kNoEntity; e = tree_[e].next)
    all = joined(places_, all, place_[e]);
  if (all != kNoPlace) place_[bubble] = all;
}

void Distribution::settle(EntityId entity, PlaceId at) {
  for (EntityId e = entity; e != kNoEntity; e = tree_.next_inside(e, entity))
    if (!tree_[e].is_thread || !tree_[e].seated) place_[e] = at;
}

void Distribution::insert(EntityId entity, PlaceId at, EntityId before) {
  List& list = lists_[at];
  Node& node = nodes_[entity];
  node.next = before;
  node.previous = before == kNoEntity ? list.last : nodes_[before].previous;
  (node.previous == kNoEntity ? list.first : nodes_[node.previous].next) = entity;
  (before == kNoEntity ? list.last : nodes_[before].previous) = entity;
  ++list.count;
  list.load += node.load;
  list.memory_bound += node.memory_bound;
}

void Distribution::unlink(EntityId entity, PlaceId at) {
  List& list = lists_[at];
  const Node& node = nodes_[entity];
  (node.previous == kNoEntity ? list.first : nodes_[node.previous].next) = node.next;
  (node.next == kNoEntity ? list.last : nodes_[node.next].previous) = node.previous;
  --list.count;
  list.load = list.count == 0 ? 0 : list.load - node.load;
  list.memory_bound = list.count == 0 ? 0 : list.memory_bound - node.memory_bound;
}

void Distribution::move(EntityId entity, PlaceId from, PlaceId to) {
  unlink(entity, from);
  insert(entity, to, kNoEntity);
}

void Distribution::burst(EntityId bubble, PlaceId at) {
  const EntityId after = nodes_[bubble].next;
  unlink(bubble, at);
  for (EntityId e = tree_[bubble].first_inside; e != kNoEntity; e = tree_[e].next) {
    if (nodes_[e].threads > 0)
      insert(e, at, after);
    else
      settle(e, at);
  }
}

EntityId* Distribution::gather(PlaceId at) {
  std::int32_t count = 0;
  for (EntityId e = lists_[at].first; e != kNoEntity; e = nodes_[e].next) {
    nodes_[e].turn = count;
    gathered_[count++] = e;
  }
  return gathered_;
}

}  // namespace hearth::policy
