#include "runtime/bubbles/live_tree.h"

#include <cstdlib>

#include <sched.h>

#include "memory/costs.h"

namespace hearth::rt {

LiveTree* live = nullptr;
constinit std::atomic<std::uint32_t> plans{0};
constinit std::atomic<std::uint32_t> hints_lost{0};

policy::Standing LiveTree::standing() const { return {tree, places, memory::costs(), place}; }

void LiveTree::begin() {
  tree.begin(room, tree_memory);
  for (std::int32_t i = 0; i < room.entities; ++i) place[i] = kNoPlace;
  for (std::int32_t i = 0; i < room.attachments; ++i) hint[i] = {};
}

void LiveTree::remove(EntityId entity) {
  bool any = false;
  for (EntityId e = entity; e != kNoEntity; e = tree.next_inside(e, entity))
    for (AttachmentId a = tree[e].first_attachment; a != kNoAttachment; a = tree.attachment(a).next) {
      hint[a] = {};
      any = true;
    }
  if (any) hints_lost.fetch_add(1, std::memory_order_relaxed);
  tree.remove(entity);
}

bool LiveTree::make_room(std::size_t bytes) {
  if (bytes <= planning_bytes) return true;
  void* more = std::realloc(planning, 2 * bytes);
  if (more == nullptr) return false;
  planning = more;
  planning_bytes = 2 * bytes;
  return true;
}

void LiveTree::remember(EntityId top, std::uint32_t number) {
  for (EntityId e = top; e != kNoEntity; e = tree.next_inside(e, top)) {
    if (!tree[e].is_thread || place[e] == kNoPlace) continue;
    const PlaceId leaf = tree[e].last_cpu == kNoCpu ? kNoPlace : places.leaf_of_cpu(tree[e].last_cpu);
    if (leaf == kNoPlace || !places.holds(place[e], leaf)) tree[e].last_cpu = places.cpus(place[e])[0];
    tree[e].last_ran = number;
  }
}

void LiveTree::enclose_bubbles(PlaceId* of) const {
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree.next_inside(e, BubbleTree::kRoot))
    if (!tree[e].is_thread) of[e] = kNoPlace;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree.next_inside(e, BubbleTree::kRoot)) {
    if (!tree[e].is_thread || of[e] == kNoPlace) continue;
    for (EntityId around = tree[e].parent; around != kNoEntity; around = tree[around].parent)
      of[around] = of[around] == kNoPlace ? of[e] : places.common(of[around], of[e]);
  }
}

topology::CpuMask LiveTree::mask_of(PlaceId at) const {
  topology::CpuMask mask;
  const std::uint32_t* cpus = places.cpus(at);
  for (std::int32_t i = 0; i < cpus_of(at); ++i) mask.set(cpus[i]);
  return mask;
}

std::uint32_t cpu_here() {
  const int cpu = live->pretended ? -1 : sched_getcpu();
  return cpu < 0 ? kNoCpu : static_cast<std::uint32_t>(cpu);
}

EntityId next_bubble_of(Member* member) {
  if (member->hot_child != nullptr && member->hot_child->bubble != kNoEntity) return member->hot_child->bubble;
  if (member->next_bubble != kNoEntity) return member->next_bubble;
  BubbleTree& tree = live->tree;
  EntityId bubble;
  if (member->entity != kNoEntity) {
    bubble = tree.enclose(member->entity);
  } else {
    bubble = tree.add_bubble(BubbleTree::kRoot);
    if (bubble == kNoEntity) return kNoEntity;
    const EntityId primary = tree.add_thread(bubble);
    if (primary == kNoEntity) {
      live->remove(bubble);
      return kNoEntity;
    }
    live->place[primary] = kNoPlace;
  }
  if (bubble != kNoEntity) live->place[bubble] = kNoPlace;
  member->next_bubble = bubble;
  return bubble;
}

}  // namespace hearth::rt
