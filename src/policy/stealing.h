// Whom an idle place takes from others: what bubble policies have in common. Pure.
//
// Only threads that wait are worth taking: a place has some to spare if its load is more than its CPUs.
#pragma once

#include "policy/bubble_policy.h"

namespace hearth::policy {

/// From the nearest place in the same location that has some to spare: the heaviest bubble if it is not alone there, else
/// what is inside it, else a thread.
EntityId steal_inside_location(const Standing& standing, PlaceId idle);

/// From all other locations, the best by levels apart, load, where it ran last, and how much of its memory is here.
EntityId steal_from_locations(const Standing& standing, PlaceId idle);

/// From the own location, else from the others.
inline EntityId steal_near_first(const Standing& standing, PlaceId idle) {
  const EntityId near = steal_inside_location(standing, idle);
  return near != kNoEntity ? near : steal_from_locations(standing, idle);
}

}  // namespace hearth::policy
