#include "runtime/bubbles/relocate.h"

#include <atomic>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "memory/areas.h"
#include "memory/costs.h"
#include "memory/migrate.h"
#include "policy/arrangement.h"
#include "policy/relocation.h"
#include "runtime/bubbles/live_tree.h"
#include "runtime/state/live.h"
#include "runtime/sync/offer.h"
#include "runtime/sync/wait.h"
#include "runtime/tools/events.h"
#include "topology/allowance.h"

namespace hearth::rt {
namespace {

using memory::Migration;

// Of the last plan. Made and ended under the lock.
constinit Offer<Migration> pending;

constinit std::atomic<std::uint64_t> plans_made{0}, threads_moved{0};
std::uint64_t pages_before_fork = 0;  // of memory::all_migrations(), which the child of a fork inherits

// Under the lock.
void end_migration() {
  Migration* migration = pending.peek();
  if (migration == nullptr || !migration->done()) return;
  pending.end();
  delete migration;
  publish_moves();
}

// The last batches may be in others' hands: who went on would touch pages that are on their way. True: it is over.
bool move_and_wait(Migration& migration) {
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(Migration::kHoldNs);
  migration.step();
  Spinner spinner;
  while (!migration.done() && migration.left() == 0 && now_ns() < until)
    if (!spinner.turn()) yield_cpu();
  return migration.done();
}

// Under the lock. A worker is bound by the thread that has planned; one of the program moves itself when it comes by.
void bind_member(Member* member, PlaceId seat) {
  HEARTH_ASSERT(!live->placed_by_user, "a plan moves member %d, whom the user has placed", member->tid);
  // A primary thread is a member of the team around, too, and of those around that.
  for (Member* each = member; each != nullptr && each->entity == member->entity; each = each->team->parent_member)
    each->seat = seat;
  Thread* thread = member->seated.load(std::memory_order_acquire);  // pairs with the release in take_seat() (seats.cpp)
  const std::int32_t kernel_id = thread == nullptr ? 0 : std::int32_t{thread->kernel_id};
  if (kernel_id == 0 || thread->is_root || thread->bound_seat == seat) return;
  thread->bound_seat = seat;
  if (live->pretended) return;
  const topology::CpuMask mask = live->mask_of(seat);
  // Refused: the thread tries, and complains, when it takes its seat.
  if (!topology::set_affinity(kernel_id, mask)) thread->bound_seat = kNoPlace;
}

// Under the lock.
std::uint64_t move_threads(EntityId top) {
  BubbleTree& tree = live->tree;
  std::uint64_t moved = 0;
  for (EntityId e = top; e != kNoEntity; e = tree.next_inside(e, top)) {
    const PlaceId before = live->place[e];
    live->place[e] = live->new_place[e];
    if (!tree[e].is_thread || before == live->place[e] || live->place[e] == kNoPlace) continue;
    ++moved;
    if (tree[e].tag != 0) bind_member(reinterpret_cast<Member*>(tree[e].tag), live->place[e]);
  }
  return moved;
}

bool add_to(Migration& migration, EntityId owner, const Hint& hint, Location target) {
  const placement::ByteRange pages = memory::whole_pages(hint.range);
  if (pages.bytes() == 0) return false;
  if (target >= 0) return migration.add(pages, target);
  // Over the owner's location and those nearest to it, or over all.
  Location all[placement::kMaxLocations];
  std::int32_t count = 0;
  const Location home = live->places[live->place[owner] == kNoPlace ? kWholeMachine : live->place[owner]].location;
  for (std::uint64_t over = policy::spread_from(memory::costs(), home, target); over != 0; over &= over - 1)
    all[count++] = __builtin_ctzll(over);
  return count != 0 && migration.add_in_turn(pages, all, count);
}

// Under the lock. Null: nothing moves, or there is no memory.
Migration* migration_of_plan(EntityId top, memory::MoveCause why) {
  BubbleTree& tree = live->tree;
  Migration* migration = nullptr;
  for (EntityId e = top; e != kNoEntity; e = tree.next_inside(e, top)) {
    for (AttachmentId a = tree[e].first_attachment; a != kNoAttachment; a = tree.attachment(a).next) {
      if (live->target[a] == policy::kStays) continue;
      if (migration == nullptr && (migration = new (std::nothrow) Migration(why)) == nullptr) return nullptr;
      if (add_to(*migration, e, live->hint[a], live->target[a]) && live->target[a] >= 0)
        tree.relocate(a, live->target[a]);
    }
  }
  return migration;
}

double passes_inside(EntityId top) {
  const BubbleTree& tree = live->tree;
  double most = 1;
  for (EntityId e = top; e != kNoEntity; e = tree.next_inside(e, top))
    for (AttachmentId a = tree[e].first_attachment; a != kNoAttachment; a = tree.attachment(a).next)
      if (live->hint[a].passes > most) most = live->hint[a].passes;
  return most;
}

}  // namespace

bool may_relocate() {
  end_migration();
  return !migration_is_pending();
}

void relocate(EntityId top, memory::MoveCause why) {
  const std::uint32_t number = plans.load(std::memory_order_relaxed) + 1;
  const std::uint64_t moved = move_threads(top);
  threads_moved.fetch_add(moved, std::memory_order_relaxed);
  events::threads_moved(why == memory::MoveCause::hint ? hearth_ompt_hint : hearth_ompt_balance, moved);
  plans_made.fetch_add(1, std::memory_order_relaxed);
  publish_moves();
  live->remember(top, number);
  plans.store(number, std::memory_order_relaxed);
  Migration* migration = migration_of_plan(top, why);
  if (migration == nullptr) return;
  [[maybe_unused]] const bool alone = pending.make(*migration);
  HEARTH_ASSERT(alone, "a plan of %d entities moves memory while the last one's is under way",
                int(live->tree.entities()));
}

bool plan_relocation_of(EntityId bubble) {
  if (!may_relocate()) return false;
  BubbleTree& tree = live->tree;
  tree.sum_up();
  const policy::Standing standing = live->standing();
  const EntityId top = policy::contradicted_by_hints(standing, bubble);
  if (top == kNoEntity || !live->make_room(policy::relocation_bytes(tree, live->places))) return true;
  std::memcpy(live->new_place, live->place, static_cast<std::size_t>(tree.entities()) * sizeof(PlaceId));
  const policy::Relocation plan =
      policy::plan_relocation(live->stack, standing, top, {.passes = passes_inside(top), .mover = policy::Mover::members},
                              live->new_place, live->target, live->planning);
  if (plan.action != policy::Action::stay) relocate(top, memory::MoveCause::hint);
  return true;
}

bool migration_is_pending() { return pending.peek() != nullptr; }

void help_to_migrate() {
  if (HEARTH_LIKELY(!migration_is_pending())) return;
  if (!pending.help(move_and_wait)) return;
  LockGuard guard(live->lock);
  end_migration();
}

void forget_migration() {
  pending.reset_after_fork();
  plans_made.store(0, std::memory_order_relaxed);
  threads_moved.store(0, std::memory_order_relaxed);
  pages_before_fork = memory::all_migrations().moved;
}

RelocationCounts relocation_counts() {
  return {.plans = plans_made.load(std::memory_order_relaxed),
          .threads = threads_moved.load(std::memory_order_relaxed),
          .pages = memory::all_migrations().moved - pages_before_fork};
}

void publish_moves() {
  const RelocationCounts counts = relocation_counts();
  live_page::publish_moves(counts.threads, counts.pages);
}

}  // namespace hearth::rt
