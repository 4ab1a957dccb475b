#include "runtime/bubbles/announced.h"

#include <cerrno>

#include "memory/areas.h"
#include "memory/migrate.h"
#include "memory/next_touch.h"
#include "policy/tuning.h"
#include "runtime/bubbles/hints.h"
#include "runtime/bubbles/live_tree.h"
#include "runtime/bubbles/seats.h"

namespace hearth::rt {
namespace {

using placement::ByteRange;

void on_announcement(ByteRange range) {
  Thread* self = Thread::current();  // its first region may be the one that this is for
  if (is_attached_to_caller(self, range)) return move_announced_here(self, range);
  SaidHints* said = said_by(self->member);
  if (said == nullptr || said->announcements == SaidHints::kMost) return;  // it waits until somebody names it
  said->announced[said->announcements++] = {.range = range, .attaches = false};
}

// The i-th of n parts in whole pages, as schedule(static) divides a loop.
ByteRange part_of(ByteRange range, std::uint64_t i, std::uint64_t n) {
  const ByteRange pages = memory::whole_pages(range);
  const std::uint64_t all = pages.bytes() / memory::kPage;
  return {pages.begin + all * i / n * memory::kPage, pages.begin + all * (i + 1) / n * memory::kPage};
}

}  // namespace

void hear_of_announcements() { memory::set_announcer(on_announcement); }

bool hand_announced_to(Team* team) {
  Member* outer = team->parent_member;
  if (HEARTH_LIKELY(outer->said == nullptr || outer->said->announcements + outer->said->handed == 0)) return false;
  SaidHints& said = *outer->said;
  // Those of the last region have been moved.
  for (int i = 0; i < said.announcements; ++i) said.handed_out[i] = said.announced[i];
  said.handed = said.announcements;
  said.announcements = 0;
  return said.handed != 0;
}

void move_announced_part(Thread* self, const Member* member) {
  const Team* team = member->team;
  const SaidHints* said = team->parent_member->said;
  if (said == nullptr) return;
  for (int i = 0; i < said->handed; ++i) {
    const ByteRange part = part_of(said->handed_out[i].range, static_cast<std::uint64_t>(member->tid),
                                   static_cast<std::uint64_t>(std::int32_t{team->size}));
    move_announced_here(self, part);
    if (said->handed_out[i].attaches) attach(self, part, Who::thread, placement::Access::read_write, tuning::kPassesUnknown);
  }
}

int attach_on_touch(Thread* self, ByteRange range) {
  const ByteRange pages = memory::whole_pages(range);
  if (pages.bytes() == 0) return EINVAL;
  switch (memory::next_touch(pages, memory::Touch::announced)) {
    case memory::AreaResult::invalid: return EINVAL;
    case memory::AreaResult::no_memory: return ENOMEM;
    default: break;
  }
  SaidHints* said = said_by(self->member);
  if (said == nullptr) return ENOMEM;
  // next_touch() has just noted it, unless there are too many or the caller uses it already.
  if (said->announcements != 0 && said->announced[said->announcements - 1].range.begin == pages.begin)
    said->announced[said->announcements - 1].attaches = true;
  return 0;
}

namespace {

void move_announced(Thread* self, ByteRange range, double passes) {
  if (HEARTH_LIKELY(!memory::areas.any_announced()) || range.bytes() == 0) return;
  const Location here = location_of_caller(self);
  if (here < 0) return;
  memory::Migration migration(memory::MoveCause::touch);
  if (memory::add_announced(migration, range, here, passes)) migration.step(memory::Migration::kNoLimit);
}

}  // namespace

void move_announced_here(Thread* self, ByteRange range) { move_announced(self, range, memory::kAtAnyCost); }

void move_announced_for_task(Thread* self, ByteRange range) { move_announced(self, range, tuning::kPassesUnknown); }

}  // namespace hearth::rt
