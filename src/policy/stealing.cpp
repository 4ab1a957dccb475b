// See stealing.h.
#include "policy/stealing.h"

namespace hearth::policy {
namespace {

// Points for what speaks for a candidate (those of the paper's authors; the last was bytes, and meant to be tuned).
constexpr float kNearest = 500;
constexpr float kForALevel = -10;
constexpr float kForLoad = 10;
constexpr float kForLastPlace = 10;
constexpr float kForMemory = 100;  // if all of it is here

bool is_at(const Standing& s, EntityId entity, PlaceId at) {
  return s.place[entity] != kNoPlace && s.places.holds(at, s.place[entity]);
}

bool may_leave(const Standing& s, EntityId entity) {
  const placement::Entity& e = s.tree[entity];
  return e.is_thread ? !e.seated : e.threads > 0;
}

// The first thread or bubble that is at a place as a whole, from `entity` on; kNoEntity: no more.
EntityId whole_one(const Standing& s, EntityId entity, PlaceId at) {
  while (entity != kNoEntity && !is_at(s, entity, at)) entity = s.tree.next_inside(entity, BubbleTree::kRoot);
  return entity;
}

template <class Function>
void for_each_at(const Standing& s, PlaceId at, Function&& function) {
  for (EntityId e = whole_one(s, BubbleTree::kRoot, at); e != kNoEntity;
       e = whole_one(s, s.tree.next_beside(e, BubbleTree::kRoot), at))
    function(e);
}

float load_at(const Standing& s, PlaceId at) {
  float load = 0;
  for_each_at(s, at, [&](EntityId e) { load += s.tree[e].load; });
  return load;
}

float spare(const Standing& s, PlaceId at) { return load_at(s, at) - static_cast<float>(s.places[at].cpus); }

// Who may be taken from a place: all that are there as a whole; of the only one, what is inside.
template <class Function>
void for_each_candidate(const Standing& s, PlaceId at, Function&& function) {
  std::int32_t count = 0;
  EntityId only = kNoEntity;
  for_each_at(s, at, [&](EntityId e) {
    ++count;
    only = e;
  });
  if (count != 1) {
    for_each_at(s, at, function);
    return;
  }
  while (!s.tree[only].is_thread && s.tree[only].first_inside == s.tree[only].last_inside &&
         s.tree[only].first_inside != kNoEntity)
    only = s.tree[only].first_inside;
  for (EntityId e = s.tree[only].first_inside; e != kNoEntity; e = s.tree[e].next) function(e);
}

// The heaviest that leaves somebody behind.
EntityId heaviest_at(const Standing& s, PlaceId at) {
  const float load = load_at(s, at);
  EntityId best = kNoEntity;
  for_each_candidate(s, at, [&](EntityId e) {
    if (may_leave(s, e) && s.tree[e].load < load && (best == kNoEntity || s.tree[e].load > s.tree[best].load)) best = e;
  });
  return best;
}

}  // namespace

EntityId steal_inside_location(const Standing& s, PlaceId idle) {
  for (PlaceId here = idle; here != placement::kWholeMachine; here = s.places[here].parent) {
    const PlaceId outer = s.places[here].parent;
    if (s.places[outer].location == kUnknown) return kNoEntity;
    PlaceId victim = kNoPlace;
    float most = 0;
    for (PlaceId p = s.places[outer].first_inside; p < s.places[outer].first_inside + s.places[outer].inside; ++p) {
      const float here_spare = p == here ? 0 : spare(s, p);
      if (here_spare <= most) continue;
      most = here_spare;
      victim = p;
    }
    const EntityId found = victim == kNoPlace ? kNoEntity : heaviest_at(s, victim);
    if (found != kNoEntity) return found;
  }
  return kNoEntity;
}

EntityId steal_from_locations(const Standing& s, PlaceId idle) {
  const Location here = s.places[idle].location;
  EntityId best = kNoEntity;
  float best_score = 0;
  const auto consider = [&](EntityId e, PlaceId from, float load) {
    if (!may_leave(s, e) || s.tree[e].load >= load) return;
    float score = kNearest + kForALevel * static_cast<float>(s.places.levels_apart(idle, from));
    score += kForLoad * s.tree[e].load;
    const PlaceId last = s.tree[e].is_thread ? s.places.leaf_of_cpu(s.tree[e].last_cpu) : kNoPlace;
    if (last != kNoPlace && s.places.holds(idle, last)) score += kForLastPlace;
    const float memory = s.tree.weight(e);
    if (memory > 0 && here != kUnknown) score += kForMemory * s.tree.weight(e, here) / memory;
    if (best != kNoEntity && score <= best_score) return;
    best = e;
    best_score = score;
  };
  for (Location i = 0; i < s.places.locations(); ++i) {
    const PlaceId from = s.places.place_of_location(i);
    if (from == kNoPlace || s.places.holds(idle, from) || s.places.holds(from, idle)) continue;
    const float load = load_at(s, from);
    if (load <= static_cast<float>(s.places[from].cpus)) continue;
    for_each_candidate(s, from, [&](EntityId e) { consider(e, from, load); });
  }
  return best;
}

}  // namespace hearth::policy
