// `spread`: everybody as far apart as can be, the heaviest to where is least to do. Bubbles that are more than one place's
// part of the load are opened.
#include "policy/distribution.h"
#include "policy/stealing.h"

namespace hearth::policy {
namespace {

class SpreadBubbles final : public BubblePolicy {
 public:
  bool deal(Distribution& d, PlaceId at) const override {
    const float part = d.load(at) / static_cast<float>(d.places()[at].inside);
    for (EntityId e = d.first(at); e != kNoEntity;) {
      const EntityId previous = d.previous(e);
      if (!d.can_burst(e) || d.load_of(e) <= part) {
        e = d.next(e);
        continue;
      }
      d.burst(e, at);
      e = previous == kNoEntity ? d.first(at) : d.next(previous);
    }
    d.deal_heaviest_first(at);
    return true;
  }

  EntityId steal(const Standing& standing, PlaceId idle) const override { return steal_near_first(standing, idle); }
};

constexpr SpreadBubbles kObject;

}  // namespace

constinit const BubblePolicy& spread_bubbles = kObject;

}  // namespace hearth::policy
