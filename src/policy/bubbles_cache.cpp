// `cache`: a team as close together as there are CPUs for it, on those where it ran before (the Cache bubble scheduler:
// Broquedis et al. 2009, 3.3). Bubbles stay whole where that leaves no CPU idle, and are opened where it would.
#include "policy/distribution.h"
#include "policy/stealing.h"

namespace hearth::policy {
namespace {

class CacheBubbles final : public BubblePolicy {
 public:
  bool deal(Distribution& d, PlaceId at) const override {
    const placement::Place& place = d.places()[at];
    while (d.count(at) < place.cpus && !d.would_fill(at)) {
      if (d.load(at) < static_cast<float>(place.inside)) {
        // Too few for each place inside to get one. They stay together; down to a core's neighbours, which are alike.
        if (d.places()[place.first_inside].level >= topology::core_level) return false;
        if (d.deal_together(at)) return true;
        break;
      }
      if (!d.burst_largest(at)) break;
    }
    if (d.count(at) < place.inside && place.location != kUnknown) return false;
    d.deal_to_last_places(at);
    d.deal_rest(at);
    d.balance(at, false);
    return true;
  }

  EntityId steal(const Standing& standing, PlaceId idle) const override {
    return steal_inside_location(standing, idle);
  }
};

constexpr CacheBubbles kObject;

}  // namespace

constinit const BubblePolicy& cache_bubbles = kObject;

}  // namespace hearth::policy
