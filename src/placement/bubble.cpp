// See bubble.h.
#include "placement/bubble.h"

#include <algorithm>

namespace hearth::placement {
namespace {

std::size_t rows(std::int32_t count, std::int32_t locations) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(locations);
}

// Rows of floats follow rows of words: an even number keeps the words behind them aligned.
static_assert(sizeof(Entity) % 8 == 0 && sizeof(Attachment) % 8 == 0);

}  // namespace

std::size_t BubbleTree::bytes_for(const Room& room) {
  return static_cast<std::size_t>(room.entities) * sizeof(Entity) +
         static_cast<std::size_t>(room.attachments) * sizeof(Attachment) +
         rows(room.attachments, room.locations) * sizeof(std::uint64_t) +
         rows(room.entities, room.locations) * 2 * sizeof(float);
}

void BubbleTree::begin(const Room& room, void* memory) {
  HEARTH_ASSERT(room.entities >= 1 && room.attachments >= 0 && room.locations >= 1 && room.locations <= kMaxLocations,
                "room for %d entities, %d attachments, %d locations", room.entities, room.attachments, room.locations);
  room_ = room;
  entities_ = static_cast<Entity*>(memory);
  attachments_ = reinterpret_cast<Attachment*>(entities_ + room.entities);
  bytes_ = reinterpret_cast<std::uint64_t*>(attachments_ + room.attachments);
  read_ = reinterpret_cast<float*>(bytes_ + rows(room.attachments, room.locations));
  written_ = read_ + rows(room.entities, room.locations);
  used_entities_ = 1;
  used_attachments_ = 0;
  free_entity_ = kNoEntity;
  free_attachment_ = kNoAttachment;
  entities_[kRoot] = Entity{.load = 0, .threads = 0};
  sum_up();
}

EntityId BubbleTree::add(EntityId parent, bool is_thread) {
  EntityId entity = free_entity_;
  if (entity != kNoEntity) {
    free_entity_ = entities_[entity].next;
  } else {
    if (used_entities_ == room_.entities) return kNoEntity;
    entity = used_entities_++;
  }
  entities_[entity] = Entity{};
  entities_[entity].is_thread = is_thread;
  if (!is_thread) {
    entities_[entity].load = 0;
    entities_[entity].threads = 0;
  }
  std::fill_n(read_ + offset(entity), room_.locations, 0.F);
  std::fill_n(written_ + offset(entity), room_.locations, 0.F);
  link_before(entity, parent, kNoEntity);
  return entity;
}

void BubbleTree::link_before(EntityId entity, EntityId parent, EntityId next) {
  HEARTH_ASSERT(!entities_[parent].is_thread, "entity %d goes into %d, which is a thread", entity, parent);
  const EntityId previous = next == kNoEntity ? entities_[parent].last_inside : entities_[next].previous;
  entities_[entity].parent = parent;
  entities_[entity].previous = previous;
  entities_[entity].next = next;
  (previous == kNoEntity ? entities_[parent].first_inside : entities_[previous].next) = entity;
  (next == kNoEntity ? entities_[parent].last_inside : entities_[next].previous) = entity;
}

void BubbleTree::unlink(EntityId entity) {
  const Entity& e = entities_[entity];
  (e.previous == kNoEntity ? entities_[e.parent].first_inside : entities_[e.previous].next) = e.next;
  (e.next == kNoEntity ? entities_[e.parent].last_inside : entities_[e.next].previous) = e.previous;
}

void BubbleTree::free_entity(EntityId entity) {
  while (entities_[entity].first_attachment != kNoAttachment) detach(entities_[entity].first_attachment);
  entities_[entity].next = free_entity_;
  free_entity_ = entity;
}

void BubbleTree::remove(EntityId entity) {
  HEARTH_ASSERT(entity != kRoot, "the root %d is removed", entity);
  unlink(entity);
  // Innermost first, from the left: what has nothing inside goes, and then what it was in.
  EntityId at = entity;
  while (true) {
    while (entities_[at].first_inside != kNoEntity) at = entities_[at].first_inside;
    const EntityId outer = at == entity ? kNoEntity : entities_[at].parent;
    if (outer != kNoEntity) unlink(at);
    free_entity(at);
    if (outer == kNoEntity) return;
    at = outer;
  }
}

void BubbleTree::move_to(EntityId entity, EntityId bubble) {
  HEARTH_ASSERT_INVARIANT(!is_inside(bubble, entity), "entity %d moves into %d, which is inside it", entity, bubble);
  unlink(entity);
  link_before(entity, bubble, kNoEntity);
}

EntityId BubbleTree::enclose(EntityId thread) {
  const EntityId bubble = add(entities_[thread].parent, false);
  if (bubble == kNoEntity) return kNoEntity;
  unlink(bubble);
  link_before(bubble, entities_[thread].parent, thread);
  move_to(thread, bubble);
  return bubble;
}

AttachmentId BubbleTree::attach(EntityId owner, const Attachment& facts, const Shares& bytes) {
  AttachmentId attachment = free_attachment_;
  if (attachment != kNoAttachment) {
    free_attachment_ = attachments_[attachment].next;
  } else {
    if (used_attachments_ == room_.attachments) return kNoAttachment;
    attachment = used_attachments_++;
  }
  attachments_[attachment] = facts;
  attachments_[attachment].owner = owner;
  attachments_[attachment].next = entities_[owner].first_attachment;
  entities_[owner].first_attachment = attachment;
  attachments_[attachment].next_sharer = attachments_[attachment].leader = attachment;
  attachments_[attachment].users = 1;
  relocate(attachment, bytes);
  return attachment;
}

void BubbleTree::share(AttachmentId attachment, AttachmentId other) {
  HEARTH_ASSERT(attachments_[attachment].next_sharer == attachment, "attachment %d shares memory already", attachment);
  const AttachmentId leader = attachments_[other].leader;
  attachments_[attachment].leader = leader;
  attachments_[attachment].next_sharer = attachments_[leader].next_sharer;
  attachments_[leader].next_sharer = attachment;
  if (!owner_has_another(attachment)) ++attachments_[leader].users;
  const std::uint64_t total = attachments_[attachment].total, all = attachments_[leader].total;
  if (all == 0) return;
  // What the leader knows may be newer: a plan has said so, and the pages are on their way.
  const double part = static_cast<double>(total) / static_cast<double>(all);
  Shares shares(room_.locations);
  for (Location i = 0; i < room_.locations; ++i)
    shares.add(i, static_cast<std::uint64_t>(static_cast<double>(bytes(leader)[i]) * part));
  relocate(attachment, shares);
}

// An owner that reads and writes the same memory may say so in two attachments, and is one user.
bool BubbleTree::owner_has_another(AttachmentId attachment) const {
  bool any = false;
  for_each_sharer(attachment, [&](AttachmentId each) {
    any = any || (each != attachment && attachments_[each].owner == attachments_[attachment].owner);
  });
  return any;
}

void BubbleTree::stop_sharing(AttachmentId attachment) {
  const AttachmentId next = attachments_[attachment].next_sharer;
  if (next == attachment) return;
  const std::int32_t users = BubbleTree::users(attachment) - (owner_has_another(attachment) ? 0 : 1);
  const AttachmentId leader = leads(attachment) ? next : attachments_[attachment].leader;
  AttachmentId last = attachment;
  for_each_sharer(attachment, [&](AttachmentId each) {
    attachments_[each].leader = leader;
    last = each;
  });
  attachments_[last].next_sharer = next;
  attachments_[leader].users = users;
}

void BubbleTree::detach(AttachmentId attachment) {
  stop_sharing(attachment);
  AttachmentId* link = &entities_[attachments_[attachment].owner].first_attachment;
  while (*link != attachment) link = &attachments_[*link].next;
  *link = attachments_[attachment].next;
  attachments_[attachment].owner = kNoEntity;
  attachments_[attachment].next = free_attachment_;
  free_attachment_ = attachment;
}

void BubbleTree::relocate(AttachmentId attachment, const Shares& bytes) {
  std::uint64_t* const row = bytes_ + offset(attachment);
  Attachment& facts = attachments_[attachment];
  facts.where = facts.total = 0;
  for (Location i = 0; i < room_.locations; ++i) {
    row[i] = i < bytes.locations ? bytes.at[i] : 0;
    facts.total += row[i];
    if (row[i] != 0) facts.where |= std::uint64_t{1} << i;
  }
}

void BubbleTree::relocate(AttachmentId attachment, Location all_to) {
  HEARTH_ASSERT(all_to >= 0 && all_to < room_.locations, "location %d of %d", all_to, room_.locations);
  for_each_sharer(attachment, [&](AttachmentId each) {
    std::uint64_t* const row = bytes_ + offset(each);
    Attachment& facts = attachments_[each];
    std::fill_n(row, room_.locations, 0);
    row[all_to] = facts.total;
    facts.where = facts.total != 0 ? std::uint64_t{1} << all_to : 0;
  });
}

// What is attached to the entity itself.
void BubbleTree::add_own(EntityId entity) {
  float* const read = read_ + offset(entity);
  float* const written = written_ + offset(entity);
  std::fill_n(read, room_.locations, 0.F);
  std::fill_n(written, room_.locations, 0.F);
  for (AttachmentId a = entities_[entity].first_attachment; a != kNoAttachment; a = attachments_[a].next) {
    const Attachment& facts = attachments_[a];
    const float times = facts.passes / static_cast<float>(users(a));
    const auto access = static_cast<unsigned>(facts.access);
    const std::uint64_t* const row = bytes(a);
    for (std::uint64_t rest = facts.where; rest != 0; rest &= rest - 1) {
      const Location i = __builtin_ctzll(rest);
      const float some = static_cast<float>(row[i]) * times;
      if ((access & static_cast<unsigned>(Access::read)) != 0) read[i] += some;
      if ((access & static_cast<unsigned>(Access::write)) != 0) written[i] += some;
    }
  }
}

void BubbleTree::add_from_inside(EntityId bubble) {
  Entity& sum = entities_[bubble];
  sum.load = 0;
  sum.threads = 0;
  add_own(bubble);
  float* const read = read_ + offset(bubble);
  float* const written = written_ + offset(bubble);
  for (EntityId e = sum.first_inside; e != kNoEntity; e = entities_[e].next) {
    sum.load += entities_[e].load;
    sum.threads += entities_[e].threads;
    for (Location i = 0; i < room_.locations; ++i) {
      read[i] += read_[offset(e) + i];
      written[i] += written_[offset(e) + i];
    }
  }
}

void BubbleTree::sum_up(EntityId top) {
  // Innermost first, from the left.
  EntityId at = top;
  while (true) {
    while (entities_[at].first_inside != kNoEntity) at = entities_[at].first_inside;
    while (true) {
      if (entities_[at].is_thread)
        add_own(at);
      else
        add_from_inside(at);
      if (at == top || entities_[at].next != kNoEntity) break;
      at = entities_[at].parent;
    }
    if (at == top) break;
    at = entities_[at].next;
  }
  for (EntityId outer = entities_[top].parent; outer != kNoEntity; outer = entities_[outer].parent)
    add_from_inside(outer);
}

float BubbleTree::weight(EntityId entity) const {
  float sum = 0;
  for (Location i = 0; i < room_.locations; ++i) sum += weight(entity, i);
  return sum;
}

Location BubbleTree::favourite(EntityId entity) const {
  Location best = kUnknown;
  float most = 0;
  for (Location i = 0; i < room_.locations; ++i) {
    const float here = weight(entity, i);
    if (here <= most) continue;
    most = here;
    best = i;
  }
  return best;
}

EntityId BubbleTree::next_beside(EntityId entity, EntityId top) const {
  while (entity != top) {
    if (entities_[entity].next != kNoEntity) return entities_[entity].next;
    entity = entities_[entity].parent;
  }
  return kNoEntity;
}

EntityId BubbleTree::next_inside(EntityId entity, EntityId top) const {
  return entities_[entity].first_inside != kNoEntity ? entities_[entity].first_inside : next_beside(entity, top);
}

bool BubbleTree::is_inside(EntityId entity, EntityId top) const {
  while (entity != kNoEntity && entity != top) entity = entities_[entity].parent;
  return entity == top;
}

}  // namespace hearth::placement
