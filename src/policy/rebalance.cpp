// Moving load from locations that have too much to those that have too little, with as little memory as will do.
#include <algorithm>

#include "policy/arrangement.h"

namespace hearth::policy {
namespace {

class Balance {
 public:
  Balance(const BubbleStack& stack, const Standing& s, EntityId top, PlaceId* place, void* memory)
      : stack_(stack), s_(s), top_(top), place_(place), memory_(memory) {}

  std::int32_t run() {
    std::int32_t moved = 0;
    for (; moved < s_.tree.entities(); ++moved) {
      count();
      Location full = kUnknown, empty = kUnknown;
      for (Location i = 0; i < s_.places.locations(); ++i) {
        if (cpus_[i] == 0) continue;
        if (full == kUnknown) full = empty = i;
        if (load_[i] * cpus_[full] > load_[full] * cpus_[i]) full = i;
        if (load_[i] * cpus_[empty] < load_[empty] * cpus_[i]) empty = i;
      }
      if (full == kUnknown || full == empty || load_[full] <= most(full)) break;
      const EntityId entity = choose(full, empty);
      if (entity == kNoEntity) break;
      distribute(stack_, s_.tree, s_.places, s_.costs, entity, s_.places.place_of_location(empty), place_, memory_);
    }
    return moved;
  }

 private:
  // The load that a location may have.
  float most(Location where) const { return kBalanced * mean_ * cpus_[where]; }

  void count() {
    float load = 0, cpus = 0;
    for (Location i = 0; i < s_.places.locations(); ++i) {
      const PlaceId place = s_.places.place_of_location(i);
      load_[i] = 0;
      cpus_[i] = place == kNoPlace ? 0 : static_cast<float>(s_.places[place].cpus);
      cpus += cpus_[i];
    }
    for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = s_.tree.next_inside(e, BubbleTree::kRoot)) {
      const Location here = s_.tree[e].is_thread ? location_of(s_, e, place_[e]) : kUnknown;
      if (here == kUnknown) continue;
      load_[here] += s_.tree[e].load;
      load += s_.tree[e].load;
    }
    mean_ = load / cpus;
  }

  // Of what is at `full` as a whole: the one with least memory of those that suffice and fit; else the heaviest that fits;
  // else whoever leaves both most alike, if that is better than it is.
  EntityId choose(Location full, Location empty) const {
    const PlaceId from = s_.places.place_of_location(full);
    const float needed = load_[full] - most(full), fits = most(empty) - load_[empty];
    EntityId sufficient = kNoEntity, heaviest = kNoEntity, evener = kNoEntity;
    float least = load_[full] / cpus_[full];
    for (EntityId e = top_, next; e != kNoEntity; e = next) {
      next = s_.tree.next_inside(e, top_);
      if (!may_leave(e) || !s_.places.holds(from, place_[e])) continue;
      const float load = s_.tree[e].load;
      if (load >= load_[full]) continue;
      // Who left a group that has memory of its own would be away from that.
      if (!s_.tree[e].is_thread && s_.tree[e].first_attachment != placement::kNoAttachment)
        next = s_.tree.next_beside(e, top_);
      if (load <= fits && load >= needed && (sufficient == kNoEntity || is_lighter(e, sufficient))) sufficient = e;
      if (load <= fits && (heaviest == kNoEntity || load > s_.tree[heaviest].load)) heaviest = e;
      const float after = std::max((load_[full] - load) / cpus_[full], (load_[empty] + load) / cpus_[empty]);
      constexpr float kEvener = 1e-4F;
      if (after >= least * (1 - kEvener)) continue;
      least = after;
      evener = e;
    }
    return sufficient != kNoEntity ? sufficient : heaviest != kNoEntity ? heaviest : evener;
  }

  bool may_leave(EntityId entity) const {
    const placement::Entity& facts = s_.tree[entity];
    return place_[entity] != kNoPlace && facts.load > 0 && !(facts.is_thread && facts.seated);
  }

  bool is_lighter(EntityId one, EntityId other) const {
    const float weight = s_.tree.weight(one), before = s_.tree.weight(other);
    return weight < before || (weight == before && s_.tree[one].load < s_.tree[other].load);
  }

  const BubbleStack& stack_;
  const Standing& s_;
  EntityId top_;
  PlaceId* place_;
  void* memory_;
  float mean_ = 0;
  float load_[placement::kMaxLocations];
  float cpus_[placement::kMaxLocations];
};

}  // namespace

std::int32_t rebalance(const BubbleStack& stack, const Standing& standing, EntityId top, PlaceId* place, void* memory) {
  std::copy_n(standing.place, standing.tree.entities(), place);
  return Balance(stack, standing, top, place, memory).run();
}

}  // namespace hearth::policy
