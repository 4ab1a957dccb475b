// Distribution: the ways of dealing that bubble policies have in common.
#include <algorithm>
#include <cstdlib>

#include "policy/distribution.h"

namespace hearth::policy {
namespace {

// Loads are sums of a few hundred numbers around 1.
constexpr float kAlike = 1e-3F;

}  // namespace

template <class Before>
EntityId* Distribution::sorted(PlaceId at, Before before) {
  EntityId* const all = gather(at);
  // Not stable_sort(), which allocates: among equals, the one that came first.
  const auto in_order = [&](EntityId a, EntityId b) {
    const Node &one = nodes_[a], &other = nodes_[b];
    return before(one, other) || (!before(other, one) && one.turn < other.turn);
  };
  if (!std::is_sorted(all, all + lists_[at].count, in_order)) std::sort(all, all + lists_[at].count, in_order);
  return all;
}

bool Distribution::burst_largest(PlaceId at) {
  EntityId largest = kNoEntity;
  for (EntityId e = lists_[at].first; e != kNoEntity; e = nodes_[e].next)
    if (can_burst(e) && (largest == kNoEntity || nodes_[e].load > nodes_[largest].load)) largest = e;
  if (largest == kNoEntity) return false;
  burst(largest, at);
  return true;
}

void Distribution::deal_to_last_places(PlaceId at) {
  const std::int32_t count = lists_[at].count;
  const EntityId* const all = sorted(at, [](const Node& a, const Node& b) { return a.last_ran > b.last_ran; });
  for (std::int32_t i = 0; i < count; ++i) {
    const PlaceId last = nodes_[all[i]].last_place;
    if (last != kNoPlace && last != at && places_.holds(at, last)) move(all[i], at, places_.inside_holding(at, last));
  }
}

bool Distribution::all_alike(PlaceId at) const {
  const EntityId first = lists_[at].first;
  for (EntityId e = first; e != kNoEntity; e = nodes_[e].next)
    if (std::abs(nodes_[e].load - nodes_[first].load) > kAlike) return false;
  return true;
}

bool Distribution::insides_alike(PlaceId at) const {
  const PlaceId first = places_[at].first_inside;
  for (PlaceId p = first; p < first + places_[at].inside; ++p)
    if (lists_[p].count != 0 || std::abs(room(p) - room(first)) > kAlike) return false;
  return true;
}

void Distribution::deal_neighbours(PlaceId at) {
  const std::int32_t inside = places_[at].inside, count = lists_[at].count;
  for (std::int32_t i = 0, dealt = 0; i < inside; ++i)
    for (; dealt < (i + 1) * count / inside; ++dealt) move(lists_[at].first, at, places_[at].first_inside + i);
}

// Where it is least full once it is there.
PlaceId Distribution::emptiest(PlaceId at, EntityId entity) const {
  const float more = nodes_[entity].load;
  PlaceId best = places_[at].first_inside;
  float least = (lists_[best].load + more) / room(best);
  for (PlaceId p = best + 1; p < places_[at].first_inside + places_[at].inside; ++p) {
    const float here = (lists_[p].load + more) / room(p);
    if (here >= least) continue;
    least = here;
    best = p;
  }
  return best;
}

PlaceId Distribution::least_memory_bound(PlaceId at) const {
  PlaceId best = places_[at].first_inside;
  for (PlaceId p = best + 1; p < places_[at].first_inside + places_[at].inside; ++p) {
    const float here = lists_[p].memory_bound / room(p), least = lists_[best].memory_bound / room(best);
    if (here < least || (here == least && fullness(p) < fullness(best))) best = p;
  }
  return best;
}

void Distribution::deal_memory_bound(PlaceId at) {
  const std::int32_t count = lists_[at].count;
  const EntityId* const all = sorted(at, [](const Node& a, const Node& b) { return a.memory_bound > b.memory_bound; });
  for (std::int32_t i = 0; i < count && nodes_[all[i]].memory_bound > 0; ++i) move(all[i], at, least_memory_bound(at));
}

void Distribution::deal_heaviest_first(PlaceId at) {
  const std::int32_t count = lists_[at].count;
  const EntityId* const all = sorted(at, [](const Node& a, const Node& b) { return a.load > b.load; });
  for (std::int32_t i = 0; i < count; ++i) move(all[i], at, emptiest(at, all[i]));
}

void Distribution::deal_rest(PlaceId at) {
  const List& list = lists_[at];
  if (list.count == 0) return;
  // Some are bound by memory and others are not: where caches and bandwidth are shared, they mix.
  const bool mixed = list.memory_bound > kAlike && list.memory_bound < list.load - kAlike;
  if (mixed && places_[at].location != kUnknown) {
    deal_memory_bound(at);
    deal_heaviest_first(at);
  } else if (insides_alike(at) && all_alike(at)) {
    deal_neighbours(at);
  } else {
    deal_heaviest_first(at);
  }
}

bool Distribution::would_fill(PlaceId at) {
  const PlaceId begin = places_[at].first_inside, end = begin + places_[at].inside;
  float room_inside = 0;
  for (PlaceId p = begin; p < end; ++p) {
    lists_[p].trial = 0;
    room_inside += room(p);
  }
  if (lists_[at].load < room_inside - kAlike) return false;
  const std::int32_t count = lists_[at].count;
  const EntityId* const all = sorted(at, [](const Node& a, const Node& b) { return a.load > b.load; });
  for (std::int32_t i = 0; i < count; ++i) {
    PlaceId least = begin;
    for (PlaceId p = begin + 1; p < end; ++p)
      if (lists_[p].trial * room(least) < lists_[least].trial * room(p)) least = p;
    lists_[least].trial += nodes_[all[i]].load;
  }
  for (PlaceId p = begin; p < end; ++p)
    if (lists_[p].trial < room(p) - kAlike) return false;
  return true;
}

// Somebody of `from`, from the end of its list, who leaves both places less unlike.
EntityId Distribution::movable(PlaceId from, PlaceId to) const {
  for (EntityId e = lists_[from].last; e != kNoEntity; e = nodes_[e].previous)
    if ((lists_[to].load + nodes_[e].load) / room(to) < fullness(from) - kAlike) return e;
  return kNoEntity;
}

void Distribution::balance(PlaceId at, bool may_burst) {
  const PlaceId begin = places_[at].first_inside, end = begin + places_[at].inside;
  while (true) {
    PlaceId full = kNoPlace, empty = begin;
    for (PlaceId p = begin; p < end; ++p) {
      const bool can_give = lists_[p].count > 1 || (may_burst && lists_[p].count == 1 && can_burst(lists_[p].first));
      if (can_give && (full == kNoPlace || fullness(p) > fullness(full))) full = p;
      if (fullness(p) < fullness(empty)) empty = p;
    }
    if (full == kNoPlace || full == empty || lists_[empty].load >= room(empty) - kAlike) return;
    const EntityId entity = lists_[full].count > 1 ? movable(full, empty) : kNoEntity;
    if (entity != kNoEntity) {
      move(entity, full, empty);
      continue;
    }
    if (!may_burst || fullness(full) <= 1 + kAlike || !burst_largest(full)) return;
  }
}

bool Distribution::deal_together(PlaceId at) {
  const float load = lists_[at].load;
  const PlaceId begin = places_[at].first_inside, end = begin + places_[at].inside;
  PlaceId best = kNoPlace;
  for (PlaceId p = begin; p < end; ++p) {
    if (room(p) < load - kAlike) continue;
    if (best == kNoPlace || room(p) > room(best) + kAlike) best = p;
  }
  PlaceId last = kNoPlace;
  for (EntityId e = lists_[at].first; e != kNoEntity && last == kNoPlace; e = nodes_[e].next)
    last = nodes_[e].last_place;
  if (last != kNoPlace && last != at && places_.holds(at, last)) {
    const PlaceId before = places_.inside_holding(at, last);
    if (room(before) >= load - kAlike) best = before;
  }
  if (best == kNoPlace) return false;
  while (lists_[at].first != kNoEntity) move(lists_[at].first, at, best);
  return true;
}

void Distribution::order_by_memory(PlaceId at) {
  const std::int32_t count = lists_[at].count;
  const EntityId* const all = sorted(at, [this](const Node& a, const Node& b) {
    return tree_.weight(static_cast<EntityId>(&a - nodes_)) > tree_.weight(static_cast<EntityId>(&b - nodes_));
  });
  for (std::int32_t i = 0; i < count; ++i) move(all[i], at, at);
}

}  // namespace hearth::policy
