#include "runtime/bubbles/balance.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/clock.h"
#include "memory/areas.h"
#include "memory/costs.h"
#include "memory/owners.h"
#include "policy/arrangement.h"
#include "policy/global_pass.h"
#include "runtime/bubbles/live_tree.h"
#include "runtime/bubbles/relocate.h"
#include "runtime/bubbles/seats.h"
#include "runtime/state/process.h"

namespace hearth::rt {
namespace {

using policy::GlobalPass;

// Half of a location's cores are enough to keep its memory busy, where nobody has measured that. Table 1 of the paper: less
// than one of four; today's servers: a quarter to a half.
constexpr float kFedCpus = 0.5F;
// After so many looks of other threads nobody waits any more for the one that has moved something: it may have ended.
constexpr int kMostIgnored = 64;

// What moved last, to undo it; by entity and by attachment.
struct Undo {
  struct Seat {
    PlaceId place;
    std::uint64_t tag;  // who that was: entities are used again
  };
  struct Home {
    Location location;
    placement::ByteRange range;
  };
  Seat* seats = nullptr;
  Home* homes = nullptr;
  std::int32_t entities = 0, attachments = 0;
};

GlobalPass pass;
Undo undo;
const Thread* on_trial = nullptr;  // whose passes tell
int ignored = 0;
std::uint64_t weighed_at = 0;  // ticks: who looks compares with the last look of anybody

// ---- All of the following under the lock.

template <class Function>
void for_each_member(Function&& function) {
  BubbleTree& tree = live->tree;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree.next_inside(e, BubbleTree::kRoot))
    if (tree[e].is_thread) function(e, tree[e].tag == 0 ? nullptr : reinterpret_cast<Member*>(tree[e].tag));
}

// Of the time since the last look the part in which the thread did not wait; 1: nobody knows.
float busy_part(EntityId entity, const Member* member, std::uint64_t now) {
  if (member == nullptr) return 1;
  Thread* thread = member->seated.load(std::memory_order_acquire);  // pairs with the release in take_seat() (seats.cpp)
  if (thread == nullptr) return 1;
  const std::uint64_t since = thread->waits_since;
  std::uint64_t waited = thread->waited;
  if (since != 0 && since < now) waited += now - since;
  const std::uint64_t waits = waited - thread->waited_then;
  thread->waited_then = waited;
  if (thread->sits_as != entity) return 0;  // its team is idle, and it is in another one
  const std::uint64_t all = now - weighed_at;
  return waits >= all ? 0 : static_cast<float>(all - waits) / static_cast<float>(all);
}

// Whether somebody who moved last is at a location now.
bool was_moved_to(Location where) {
  for (EntityId e = 0; e < undo.entities; ++e)
    if (undo.seats[e].place != kNoPlace && live->place[e] != kNoPlace && location_of_seat(live->place[e]) == where)
      return true;
  return false;
}

void measure(const Thread* self, std::uint64_t now, policy::PassTimes& times) {
  BubbleTree& tree = live->tree;
  times.passes = std::max(1U, self->passes_between_looks);
  times.mean_ns = static_cast<double>(to_ns(now - self->looked_at)) / times.passes;
  float longest = -1;
  EntityId slowest = kNoEntity;
  for_each_member([&](EntityId e, const Member* member) {
    const float busy = busy_part(e, member, now);
    tree[e].work_ns = busy * static_cast<float>(times.mean_ns);
    if (live->place[e] == kNoPlace || busy <= longest) return;
    longest = busy;
    slowest = e;
  });
  weighed_at = now;
  times.slowest_has_moved = slowest != kNoEntity && was_moved_to(location_of_seat(live->place[slowest]));
}

// Loads of all threads: by what programs have said of passes, if that covers everybody; else by how busy they were.
void weigh(double pass_ns) {
  BubbleTree& tree = live->tree;
  for (AttachmentId a = 0; a < tree.attachments(); ++a)
    tree.attachment(a).passes = live->hint[a].said == 0 ? static_cast<float>(live->hint[a].passes) : 0;
  if (policy::weigh_by_hints(tree, live->place)) {
    for_each_member([&](EntityId e, const Member*) { tree[e].work_ns = 0; });
    return;
  }
  for (AttachmentId a = 0; a < tree.attachments(); ++a) tree.attachment(a).passes = 1;
  for_each_member([&](EntityId e, const Member*) { tree[e].load = tree[e].work_ns / static_cast<float>(pass_ns); });
  policy::weigh_by_time(tree, live->places, memory::costs(), live->place);
  tree.sum_up();
}

// As the rest of the tree's users expect it.
void forget_weights() {
  BubbleTree& tree = live->tree;
  for (AttachmentId a = 0; a < tree.attachments(); ++a) tree.attachment(a).passes = 1;
  for_each_member([&](EntityId e, const Member*) {
    tree[e].load = 1;
    tree[e].work_ns = 0;
  });
  tree.sum_up();
}

// Of memory that nobody had touched when it was attached.
void look_where_memory_is() {
  BubbleTree& tree = live->tree;
  for (AttachmentId a = 0; a < tree.attachments(); ++a)
    if (live->hint[a].range.bytes() != 0 && policy::bytes_of(tree, a) == 0)
      tree.relocate(a, memory::look_up(live->hint[a].range));
}

bool make_room_to_undo() {
  if (undo.seats != nullptr) return true;
  const auto entities = static_cast<std::size_t>(live->room.entities);
  const auto attachments = static_cast<std::size_t>(live->room.attachments);
  undo.seats = static_cast<Undo::Seat*>(std::malloc(entities * sizeof(Undo::Seat)));
  undo.homes = static_cast<Undo::Home*>(std::malloc(attachments * sizeof(Undo::Home)));
  if (undo.seats != nullptr && undo.homes != nullptr) return true;
  std::free(undo.seats);
  std::free(undo.homes);
  undo.seats = nullptr;
  undo.homes = nullptr;
  return false;
}

// The one location where all of the attachment's memory is; kStays: it is at several.
Location only_home(AttachmentId attachment) {
  const std::uint64_t where = live->tree.attachment(attachment).where;
  return where != 0 && (where & (where - 1)) == 0 ? __builtin_ctzll(where) : policy::kStays;
}

void note_what_moves() {
  const BubbleTree& tree = live->tree;
  undo.entities = tree.entities();
  undo.attachments = tree.attachments();
  for (EntityId e = 0; e < undo.entities; ++e) {
    const bool moves = tree[e].is_thread && live->place[e] != live->new_place[e];
    undo.seats[e] = {.place = moves ? live->place[e] : kNoPlace, .tag = tree[e].tag};
  }
  for (AttachmentId a = 0; a < undo.attachments; ++a) {
    const bool moves = tree.attachment(a).owner != kNoEntity && live->target[a] != policy::kStays;
    undo.homes[a] = {.location = moves ? only_home(a) : policy::kStays, .range = live->hint[a].range};
  }
}

void forget_what_moved() { undo.entities = undo.attachments = 0; }

// Whoever is still there goes back to where it was.
void move_back() {
  BubbleTree& tree = live->tree;
  std::memcpy(live->new_place, live->place, static_cast<std::size_t>(tree.entities()) * sizeof(PlaceId));
  std::fill_n(live->target, tree.attachments(), policy::kStays);
  for_each_member([&](EntityId e, const Member*) {
    if (e < undo.entities && undo.seats[e].place != kNoPlace && undo.seats[e].tag == tree[e].tag &&
        live->place[e] != kNoPlace)
      live->new_place[e] = undo.seats[e].place;
  });
  live->enclose_bubbles(live->new_place);
  for (AttachmentId a = 0; a < undo.attachments; ++a)
    if (live->hint[a].range.bytes() != 0 && live->hint[a].range == undo.homes[a].range)
      live->target[a] = undo.homes[a].location;
  relocate(BubbleTree::kRoot, memory::MoveCause::balance);
  forget_what_moved();
}

// True: something moves.
bool plan_and_move() {
  BubbleTree& tree = live->tree;
  look_where_memory_is();
  tree.sum_up();
  if (pass.budget_ns() == 0 || !make_room_to_undo() || !live->make_room(policy::relocation_bytes(tree, live->places))) return false;
  std::memcpy(live->new_place, live->place, static_cast<std::size_t>(tree.entities()) * sizeof(PlaceId));
  const policy::Horizon horizon{.passes = pass.horizon(),
                                .mover = policy::Mover::members,
                                .only_balances = true,
                                .fed_cpus = kFedCpus,
                                .most_first_ns = pass.budget_ns()};
  const policy::Relocation plan = policy::plan_relocation(live->stack, live->standing(), BubbleTree::kRoot, horizon,
                                                          live->new_place, live->target, live->planning);
  if (plan.action == policy::Action::stay) return false;
  note_what_moves();
  relocate(BubbleTree::kRoot, memory::MoveCause::balance);
  pass.moved(plan.then.first_ns);
  return true;
}

// Somebody else's passes are under test, and these are too unlike them.
bool others_are_on_trial(const Thread* self) {
  if (!pass.on_trial() || on_trial == self) return false;
  if (++ignored < kMostIgnored) return true;
  pass.forget_trial();
  return false;
}

void look(Thread* self, std::uint64_t now) {
  if (live->tree[BubbleTree::kRoot].first_inside == kNoEntity || others_are_on_trial(self) || !may_relocate()) return;
  policy::PassTimes times;
  measure(self, now, times);
  weigh(times.mean_ns);
  switch (pass.begin(times, policy::unevenness(live->standing()))) {
    case GlobalPass::Turn::none: break;
    case GlobalPass::Turn::undo: move_back(); break;
    case GlobalPass::Turn::look:
      if (!plan_and_move()) break;
      on_trial = self;
      ignored = 0;
  }
  forget_weights();
  pass.took(static_cast<double>(to_ns(ticks() - now)));
}

}  // namespace

void begin_to_balance() {
  weighed_at = ticks();
  process.measures_load = true;
}

void look_at_balance_slowly(Thread* self) {
  const std::uint64_t now = ticks();
  {
    LockGuard guard(live->lock);
    if (self->looked_at != 0) look(self, now);
    self->passes_to_look = self->passes_between_looks = pass.passes_to_next();
  }
  self->looked_at = now;
  help_to_migrate();
}

void forget_balance() {
  pass = GlobalPass();
  forget_what_moved();
  weighed_at = ticks();
}

}  // namespace hearth::rt
