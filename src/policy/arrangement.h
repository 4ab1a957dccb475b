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

/// The one location of all who use an attachment's memory, or share it; kUnknown: they are at several.
inline Location location_of_users(const Standing& s, AttachmentId attachment, const PlaceId* place) {
  Location all = kUnknown;
  bool apart = false;
  s.tree.for_each_sharer(attachment, [&](AttachmentId each) {
    const Location here = location_of_owner(s, s.tree.attachment(each).owner, place);
    apart = apart || here == kUnknown || (all != kUnknown && here != all);
    all = here;
  });
  return apart ? kUnknown : all;
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

/// What is spread from a location to one of the targets that are none: its locations, as bits.
inline std::uint64_t spread_from(const CostModel& costs, Location here, Location target) {
  return target == kOverAll || here == kUnknown ? costs.memory_locations() : neighbourhood(costs, here);
}

/// What the targets of an arrangement mean. Remembers every location's neighbourhood.
class Targets {
 public:
  Targets(const Standing& standing, const Arrangement& then) : s_(standing), then_(then) {}

  /// The locations that an attachment's bytes go to, as bits; 0: they stay. Of those that share memory, where their leader goes.
  std::uint64_t of(AttachmentId attachment) {
    attachment = s_.tree.attachment(attachment).leader;
    const Location target = then_.target[attachment];
    if (target >= 0) return std::uint64_t{1} << target;
    if (target == kStays) return 0;
    const Location here = target == kOverAll
                              ? kUnknown
                              : location_of_users(s_, attachment, then_.place);
    if (here == kUnknown) return s_.costs.memory_locations();
    if (near_[here] == 0) near_[here] = neighbourhood(s_.costs, here);
    return near_[here];
  }

 private:
  const Standing s_;
  const Arrangement then_;
  std::uint64_t near_[placement::kMaxLocations] = {};
};

inline double bytes_of(const BubbleTree& tree, AttachmentId attachment) {
  return static_cast<double>(tree.attachment(attachment).total);
}

/// Calls function(attachment, part) for what a thread uses of that which the bubbles around it have: its part, by load.
template <class Function>
void for_each_use_of_bubbles(const BubbleTree& tree, EntityId thread, Function&& function) {
  for (EntityId owner = tree[thread].parent; owner != kNoEntity; owner = tree[owner].parent) {
    if (tree[owner].first_attachment == kNoAttachment) continue;
    const double part = tree[owner].load > 0 ? static_cast<double>(tree[thread].load / tree[owner].load)
                                             : 1.0 / tree[owner].threads;
    for (AttachmentId a = tree[owner].first_attachment; a != kNoAttachment; a = tree.attachment(a).next)
      function(a, part);
  }
}

/// The same with all that is its own.
template <class Function>
void for_each_use(const BubbleTree& tree, EntityId thread, Function&& function) {
  for (AttachmentId a = tree[thread].first_attachment; a != kNoAttachment; a = tree.attachment(a).next) function(a, 1.0);
  for_each_use_of_bubbles(tree, thread, function);
}

/// Of bytes that are spread over these locations, the part of one. Mostly it is one; counting bits is a call where the
/// processor's instruction for it may be missing.
inline double part_of_each(std::uint64_t locations) {
  return (locations & (locations - 1)) == 0 ? 1 : 1.0 / __builtin_popcountll(locations);
}

/// Calls function(from, to, bytes, pages) for what would move of a part of an attachment.
template <class Function>
void for_each_move(const Standing& s, AttachmentId attachment, double part, std::uint64_t to, Function&& function) {
  const std::uint64_t* const bytes = s.tree.bytes(attachment);
  part *= part_of_each(to);
  for (std::uint64_t from = to != 0 ? s.tree.attachment(attachment).where : 0; from != 0; from &= from - 1) {
    const Location i = __builtin_ctzll(from);
    const double some = static_cast<double>(bytes[i]) * part;
    const std::uint64_t pages = s.costs.pages(some);
    for (std::uint64_t rest = to & ~(std::uint64_t{1} << i); rest != 0; rest &= rest - 1)
      function(i, __builtin_ctzll(rest), some, pages);
  }
}

}  // namespace hearth::policy
