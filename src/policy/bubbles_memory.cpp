// `memory`: threads and bubbles go where their memory is (the Memory bubble scheduler: Broquedis et al. 2009, 3.3). It deals
// to locations; inside them another policy does.
#include "policy/distribution.h"
#include "policy/stealing.h"

namespace hearth::policy {
namespace {

bool strictly_inside(const Distribution& d, PlaceId at, PlaceId inner) {
  return inner != kNoPlace && inner != at && d.places().holds(at, inner);
}

bool somebody_is_drawn(const Distribution& d, PlaceId at) {
  for (EntityId e = d.first(at); e != kNoEntity; e = d.next(e))
    if (d.favourite(e) != kNoPlace) return true;
  return false;
}

// What draws it is at several of the places inside, or beyond this place.
void burst_drawn_apart(Distribution& d, PlaceId at) {
  for (EntityId e = d.first(at); e != kNoEntity;) {
    const EntityId previous = d.previous(e);
    if (!d.can_burst(e) || d.favourite(e) == kNoPlace || !d.places().holds(d.favourite(e), at)) {
      e = d.next(e);
      continue;
    }
    d.burst(e, at);
    // What was inside stands here now, and may be drawn apart, too.
    e = previous == kNoEntity ? d.first(at) : d.next(previous);
  }
}

bool burst_with_least_memory(Distribution& d, PlaceId at) {
  EntityId least = kNoEntity;
  for (EntityId e = d.first(at); e != kNoEntity; e = d.next(e))
    if (d.can_burst(e) && (least == kNoEntity || d.tree().weight(e) < d.tree().weight(least))) least = e;
  if (least == kNoEntity) return false;
  d.burst(least, at);
  return true;
}

class MemoryBubbles final : public BubblePolicy {
 public:
  bool deal(Distribution& d, PlaceId at) const override {
    if (!somebody_is_drawn(d, at)) return cache_bubbles.deal(d, at);
    burst_drawn_apart(d, at);
    while (d.count(at) < d.places()[at].inside && burst_with_least_memory(d, at)) {
    }
    d.order_by_memory(at);
    for (EntityId e = d.first(at); e != kNoEntity;) {
      const EntityId next = d.next(e);
      if (strictly_inside(d, at, d.favourite(e))) d.move(e, at, d.places().inside_holding(at, d.favourite(e)));
      e = next;
    }
    d.deal_to_last_places(at);
    d.deal_rest(at);
    d.balance(at, true);
    return true;
  }

  EntityId steal(const Standing& standing, PlaceId idle) const override { return steal_near_first(standing, idle); }
};

constexpr MemoryBubbles kObject;

}  // namespace

constinit const BubblePolicy& memory_bubbles = kObject;

}  // namespace hearth::policy
