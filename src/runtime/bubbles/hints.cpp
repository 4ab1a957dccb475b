#include "runtime/bubbles/hints.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "memory/areas.h"
#include "memory/manager.h"
#include "memory/owners.h"
#include "policy/tuning.h"
#include "runtime/bubbles/announced.h"
#include "runtime/bubbles/live_tree.h"
#include "runtime/bubbles/relocate.h"
#include "runtime/bubbles/seats.h"

namespace hearth::rt {

namespace {

using placement::Access;
using placement::ByteRange;

bool is_outside_of_regions(const Member* member) { return member->team->parent_member == nullptr; }

// Whom it is said for, by whom, and whose next team that is, if it is one. Under the lock.
struct Owner {
  EntityId entity = kNoEntity;
  Member* sayer = nullptr;
  Member* before_team = nullptr;
};

// What then has to look at it: the team, at its next region or barrier, and those around at their barriers. There all that is
// inside has said what it has to say, and nobody works; who plans earlier may find others in the middle of a region.
void make_due(const Owner& owner) {
  if (owner.before_team != nullptr) owner.before_team->hints_due = 1;
  for (Member* member = owner.sayer; !is_outside_of_regions(member); member = member->team->parent_member)
    member->team->hints_due = 1;
}

// Of all teams inside. Under the lock.
void nothing_is_due_inside(EntityId top) {
  const BubbleTree& tree = live->tree;
  for (EntityId e = top; e != kNoEntity; e = tree.next_inside(e, top)) {
    if (tree[e].tag == 0) continue;
    auto* member = reinterpret_cast<Member*>(tree[e].tag);
    member->hints_due = 0;
    for (; !is_outside_of_regions(member); member = member->team->parent_member)
      if (member->team->bubble != kNoEntity && tree.is_inside(member->team->bubble, top)) member->team->hints_due = 0;
  }
}

Owner owner_of(Thread* self, Who who) {
  Member* member = who == Who::next_team ? self->member : member_of_bubble(self);
  if (who == Who::next_team || is_outside_of_regions(member)) {
    const EntityId bubble = next_bubble_of(member);
    if (bubble == kNoEntity) return {};
    return {who == Who::thread ? live->tree[bubble].first_inside : bubble, self->member, member};
  }
  return {who == Who::thread ? member->entity : EntityId{member->team->bubble}, self->member, nullptr};
}

AttachmentId find(EntityId owner, ByteRange range, Access use) {
  for (AttachmentId a = live->tree[owner].first_attachment; a != kNoAttachment; a = live->tree.attachment(a).next) {
    if (live->hint[a].range == range && live->tree.attachment(a).access == use) return a;
  }
  return kNoAttachment;
}

// Of each other's bytes over half: one memory. Neighbours whose ranges overlap at their ends have their own.
bool are_one_memory(ByteRange one, ByteRange other) {
  const std::uint64_t both = memory::common(one, other).bytes();
  return 2 * both > one.bytes() && 2 * both > other.bytes();
}

// Others may have said that they use it, too.
void share_with_others(AttachmentId made) {
  for (AttachmentId a = 0; a < live->tree.attachments(); ++a) {
    if (a == made || live->hint[a].range.bytes() == 0 || !are_one_memory(live->hint[a].range, live->hint[made].range)) continue;
    live->tree.share(made, a);
    return;
  }
}

void drop(AttachmentId attachment) {
  live->hint[attachment] = {};
  live->tree.detach(attachment);
}

// `shares`: where the range is, asked for before the lock was taken.
int attach_to(const Owner& owner, ByteRange range, Access use, double passes, std::uint64_t said,
              const placement::Shares& shares) {
  if (owner.entity == kNoEntity) return ENOMEM;
  if (const AttachmentId known = find(owner.entity, range, use); known != kNoAttachment) {
    live->hint[known].said = said;
    if (live->hint[known].passes == passes) return 0;
    live->hint[known].passes = passes;
  } else {
    const AttachmentId made = live->tree.attach(owner.entity, {.access = use}, shares);
    if (made == kNoAttachment) return ENOMEM;
    live->hint[made] = {.range = range, .passes = passes, .said = said};
    share_with_others(made);
  }
  make_due(owner);
  return 0;
}

// What an earlier bunch has said and this one has not repeated.
void drop_older(EntityId owner, const SaidHints& keep) {
  for (AttachmentId a = live->tree[owner].first_attachment; a != kNoAttachment;) {
    const AttachmentId next = live->tree.attachment(a).next;
    const Hint& hint = live->hint[a];
    bool repeated = hint.said == 0 || hint.said == keep.bunch;
    for (int i = 0; i < keep.repeated && !repeated; ++i) repeated = keep.range[i] == hint.range;
    if (!repeated) drop(a);
    a = next;
  }
}

bool is_one_area(ByteRange range) {
  memory::AreaId id = 0;
  const ByteRange pages = memory::whole_pages(range);
  return pages.bytes() != 0 && memory::areas.cut_out(pages, id) != memory::AreaResult::invalid;
}

// Just so: asked first, because where memory is takes a system call to tell.
bool is_attached(Thread* self, ByteRange range, Who who, Access use, double passes) {
  LockGuard guard(live->lock);
  const EntityId owner = owner_of(self, who).entity;
  const AttachmentId known = owner == kNoEntity ? kNoAttachment : find(owner, range, use);
  return known != kNoAttachment && live->hint[known].said == 0 && live->hint[known].passes == passes;
}

bool repeats_what_was_said(SaidHints& said, std::uint64_t bunch, ByteRange range, Access use) {
  if (said.bunch != bunch) {
    said.bunch = bunch;
    said.repeated = 0;
  }
  const std::uint32_t lost = hints_lost.load(std::memory_order_relaxed);
  if (HEARTH_UNLIKELY(said.lost != lost)) {
    said.lost = lost;
    said.repeated = said.count = 0;
  }
  if (said.repeated >= said.count || said.range[said.repeated] != range || said.use[said.repeated] != use) return false;
  ++said.repeated;
  return true;
}

void note_said(SaidHints& said, ByteRange range, Access use) {
  if (said.repeated == SaidHints::kMost) return;
  said.range[said.repeated] = range;
  said.use[said.repeated] = use;
  said.count = ++said.repeated;
}

// The team's, or if it has one thread, and is no bubble, that which is around this thread. Under the lock.
EntityId bubble_to_plan(const Team* team) {
  EntityId bubble = team->bubble;
  for (const Member* outer = team->parent_member; bubble == kNoEntity && outer != nullptr; outer = outer->team->parent_member)
    bubble = outer->next_bubble != kNoEntity ? outer->next_bubble : EntityId{outer->team->bubble};
  return bubble;
}

}  // namespace

int attach(Thread* self, ByteRange range, Who who, Access use, double passes) {
  if (!is_one_area(range)) return EINVAL;
  if (live == nullptr) return 0;
  if (who == Who::thread) move_announced_here(self, range);
  if (is_attached(self, range, who, use, passes)) return 0;
  const placement::Shares shares = memory::look_up(range);
  LockGuard guard(live->lock);
  return attach_to(owner_of(self, who), range, use, passes, 0, shares);
}

bool is_attached_to_caller(Thread* self, ByteRange range) {
  if (live == nullptr) return false;
  const Member* member = member_of_bubble(self);
  if (is_outside_of_regions(member)) return false;
  LockGuard guard(live->lock);
  const EntityId owner = member->entity;
  if (owner == kNoEntity) return false;
  for (AttachmentId a = live->tree[owner].first_attachment; a != kNoAttachment; a = live->tree.attachment(a).next)
    if (memory::common(live->hint[a].range, range).bytes() != 0) return true;
  return false;
}

SaidHints* said_by(Member* member) {
  if (member->said == nullptr) member->said = static_cast<SaidHints*>(std::calloc(1, sizeof(SaidHints)));
  return member->said;
}

int detach(Thread* self, std::uint64_t address, Who who) {
  if (live == nullptr) return ENOENT;
  LockGuard guard(live->lock);
  const Owner owner = owner_of(self, who);
  if (owner.entity == kNoEntity) return ENOENT;
  int result = ENOENT;
  for (AttachmentId a = live->tree[owner.entity].first_attachment; a != kNoAttachment;) {
    const AttachmentId next = live->tree.attachment(a).next;
    if (address >= live->hint[a].range.begin && address < live->hint[a].range.end) {
      drop(a);
      hints_lost.fetch_add(1, std::memory_order_relaxed);
      result = 0;
    }
    a = next;
  }
  return result;
}

int follow(Thread* self, Who who) {
  if (live == nullptr) return EALREADY;  // there is one location
  memory::Migration migration;
  const Location here = location_of_caller(self);
  if (here == placement::kUnknown) return EINVAL;
  bool any = false;
  {
    LockGuard guard(live->lock);
    const Owner owner = owner_of(self, who);
    if (owner.entity == kNoEntity) return ENOENT;
    for (AttachmentId a = live->tree[owner.entity].first_attachment; a != kNoAttachment;
         a = live->tree.attachment(a).next) {
      const ByteRange pages = memory::whole_pages(live->hint[a].range);
      if (pages.bytes() == 0 || !migration.add(pages, here)) continue;
      live->tree.relocate(a, here);
      any = true;
    }
  }
  if (!any) return ENOENT;
  return memory::carry_out(migration);
}

int say_affinity(Thread* self, ByteRange range, Access use, bool when_all) {
  if (live == nullptr) return is_one_area(range) ? 0 : EINVAL;
  Member* member = self->member;
  if (said_by(member) == nullptr) return ENOMEM;
  SaidHints& said = *member->said;
  // 0 is for what was attached.
  const std::uint64_t bunch = (self->regions_served() << 32 | (member->phase & UINT32_MAX)) + 1;
  if (repeats_what_was_said(said, bunch, range, use)) return 0;
  if (!is_one_area(range)) return EINVAL;
  const placement::Shares shares = memory::look_up(range);
  {
    LockGuard guard(live->lock);
    const Owner owner = owner_of(self, is_outside_of_regions(member_of_bubble(self)) ? Who::next_team : Who::thread);
    if (owner.entity != kNoEntity) drop_older(owner.entity, said);
    const int result = attach_to(owner, range, use, tuning::kPassesUnknown, bunch, shares);
    if (result != 0) return result;
    const EntityId entity = owner.entity;
    if (!when_all && live->place[entity] != kNoPlace)
      plan_relocation_of(live->tree[entity].is_thread ? live->tree[entity].parent : entity);
  }
  note_said(said, range, use);
  if (!when_all) help_to_migrate();
  return 0;
}

void put_hints_in_force(Team* team) {
  if (live == nullptr || team->parent_member == nullptr) return;
  {
    // One member plans; the others see that something is due until it has, and wait for the lock.
    LockGuard guard(live->lock);
    Member* outer = team->parent_member;
    const EntityId bubble = bubble_to_plan(team);
    if (bubble == kNoEntity || (team->hints_due == 0 && outer->hints_due == 0)) return;
    if (!plan_relocation_of(bubble)) return;
    nothing_is_due_inside(bubble);
    team->hints_due = 0;
    outer->hints_due = 0;
  }
  help_to_migrate();
}

void forget_hints_in(ByteRange range) {
  if (live == nullptr) return;
  LockGuard guard(live->lock);
  for (AttachmentId a = 0; a < live->tree.attachments(); ++a) {
    const ByteRange& hint = live->hint[a].range;
    if (hint.bytes() == 0 || hint.begin >= range.end || range.begin >= hint.end) continue;
    drop(a);
    hints_lost.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace hearth::rt
