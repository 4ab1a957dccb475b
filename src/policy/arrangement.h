// What several ways of planning ask of a Standing: where a thread is, which attachments it uses, and where their bytes would
// be. Pure, inline.
#pragma once

#include "policy/relocation.h"

namespace hearth::policy {

using placement::Attachment;
using placement::AttachmentId;
using placement::kNoAttachment;

/// Where a thread counts as being: if it may run at several locations, where it ran last.
inline Location location_of(const Standing& s, EntityId thread, PlaceId place) {
  if (place == kNoPlace) return kUnknown;
  if (s.places[place].location != kUnknown) return s.places[place].location;
  const PlaceId last = s.places.leaf_of_cpu(s.tree[thread].last_cpu);
  const PlaceId leaf = last != kNoPlace && s.places.holds(place, last) ? last
                                                                       : s.places.leaf_of_cpu(*s.places.cpus(place));
  return s.places[leaf].location;
}

/// The one location of all threads of an owner; kUnknown: they are at several.
inline Location location_of_owner(const Standing& s, EntityId owner, const PlaceId* place) {
  Location all = kUnknown;
  for (EntityId e = owner; e != kNoEntity; e = s.tree.next_inside(e, owner)) {
    if (!s.tree[e].is_thread) continue;
    const Location here = location_of(s, e, place[e]);
    if (all != kUnknown && here != all) return kUnknown;
    all = here;
  }
  return all;
}

/// Locations with memory near one, itself too, as bits: those that are no farther than its nearest other.
inline std::uint64_t neighbourhood(const CostModel& costs, Location here) {
  double nearest = 0;
  const auto has_memory = [&](Location i) { return (costs.memory_locations() >> i & 1) != 0; };
  for (Location i = 0; i < costs.locations(); ++i)
    if (i != here && has_memory(i) && (nearest == 0 || costs.read_line_ns(here, i) < nearest))
      nearest = costs.read_line_ns(here, i);
  constexpr double kAsNear = 1.01;
  std::uint64_t all = 0;
  for (Location i = 0; i < costs.locations(); ++i)
    if (has_memory(i) && (i == here || costs.read_line_ns(here, i) <= nearest * kAsNear)) all |= std::uint64_t{1} << i;
  return all;
}

/// The locations that a target means, as bits; 0: the bytes stay.
inline std::uint64_t target_locations(const Standing& s, AttachmentId attachment, const Arrangement& then) {
  const Location target = then.target[attachment];
  if (target >= 0) return std::uint64_t{1} << target;
  if (target == kOverAll) return s.costs.memory_locations();
  if (target != kOverNeighbours) return 0;
  const Location here = location_of_owner(s, s.tree.attachment(attachment).owner, then.place);
  return here == kUnknown ? s.costs.memory_locations() : neighbourhood(s.costs, here);
}

inline double bytes_of(const BubbleTree& tree, AttachmentId attachment) {
  double sum = 0;
  for (Location i = 0; i < tree.locations(); ++i) sum += static_cast<double>(tree.bytes(attachment)[i]);
  return sum;
}

/// Calls function(attachment, part) for what a thread uses: all of its own, and its part, by load, of what the bubbles around
/// it have.
template <class Function>
void for_each_use(const BubbleTree& tree, EntityId thread, Function&& function) {
  for (EntityId owner = thread; owner != kNoEntity; owner = tree[owner].parent) {
    const double part = owner == thread        ? 1
                        : tree[owner].load > 0 ? static_cast<double>(tree[thread].load / tree[owner].load)
                                               : 1.0 / tree[owner].threads;
    for (AttachmentId a = tree[owner].first_attachment; a != kNoAttachment; a = tree.attachment(a).next)
      function(a, part);
  }
}

/// Calls function(from, to, bytes) for what would move of an attachment.
template <class Function>
void for_each_move(const Standing& s, AttachmentId attachment, std::uint64_t to, Function&& function) {
  const std::uint64_t* const bytes = s.tree.bytes(attachment);
  const int parts = __builtin_popcountll(to);
  for (Location i = 0; i < s.tree.locations(); ++i) {
    if (bytes[i] == 0) continue;
    for (std::uint64_t rest = to & ~(std::uint64_t{1} << i); rest != 0; rest &= rest - 1)
      function(i, __builtin_ctzll(rest), static_cast<double>(bytes[i]) / parts);
  }
}

}  // namespace hearth::policy
