#include "runtime/bubbles/seats.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "memory/areas.h"
#include "memory/costs.h"
#include "memory/homes.h"
#include "policy/bubble_policy.h"
#include "runtime/binding/locations.h"
#include "runtime/binding/places.h"
#include "runtime/bubbles/announced.h"
#include "runtime/bubbles/balance.h"
#include "runtime/bubbles/hints.h"
#include "runtime/bubbles/live_tree.h"
#include "runtime/bubbles/relocate.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/sync/lock.h"
#include "topology/binding.h"
#include "topology/current.h"

namespace hearth::rt {
namespace {

// ---- All of the following under the lock.

// A member that has kept a nested team stays, with that.
void take_out(const Team* team, Member* member) {
  if (member->entity == kNoEntity || live->tree[member->entity].parent != team->bubble) return;
  live->remove(member->entity);
  member->entity = kNoEntity;
  member->seat = kNoPlace;
}

// The team's bubble, with a thread for each of the first `size` members. False: the tree is full, and stays as it was but for
// threads that have left.
bool enter(Team* team, std::int32_t size) {
  BubbleTree& tree = live->tree;
  for (std::int32_t i = size; i < team->capacity; ++i)
    if (team->members[i] != nullptr) take_out(team, team->members[i]);
  if (team->bubble == kNoEntity) {
    team->bubble = next_bubble_of(team->parent_member);
    team->parent_member->next_bubble = kNoEntity;
    if (team->bubble == kNoEntity) return false;
    team->members[0]->entity = tree[team->bubble].first_inside;
    tree[team->members[0]->entity].tag = reinterpret_cast<std::uintptr_t>(team->members[0]);
  }
  for (std::int32_t i = 1; i < size; ++i) {
    Member& member = *team->members[i];
    if (member.entity != kNoEntity) continue;
    if ((member.entity = tree.add_thread(team->bubble)) == kNoEntity) return false;
    tree[member.entity].tag = reinterpret_cast<std::uintptr_t>(&member);
    live->place[member.entity] = kNoPlace;
  }
  return true;
}

// Threads in the place that are not inside the bubble.
std::int32_t others_in(PlaceId place, EntityId bubble) {
  const BubbleTree& tree = live->tree;
  std::int32_t others = 0;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity;) {
    if (e == bubble) {
      e = tree.next_beside(e, BubbleTree::kRoot);
      continue;
    }
    others += tree[e].is_thread && live->place[e] != kNoPlace && live->places.holds(place, live->place[e]);
    e = tree.next_inside(e, BubbleTree::kRoot);
  }
  return others;
}

// The largest place around the primary thread's seat that the bubble has for itself.
PlaceId own_part(EntityId bubble, EntityId primary) {
  PlaceId place = live->place[primary];
  if (place == kNoPlace) return kWholeMachine;
  for (PlaceId around = live->places[place].parent; around != kNoPlace && others_in(around, bubble) == 0;
       around = live->places[place].parent)
    place = around;
  return place;
}

// Seats for all of the smallest bubble around the team whose part of the machine has a CPU for each of its threads: a nested
// team that has outgrown its part makes the teams beside it move together.
void plan(Team* team) {
  BubbleTree& tree = live->tree;
  tree.sum_up();
  const EntityId primary = team->members[0]->entity;
  EntityId top = team->bubble;
  PlaceId within = own_part(top, primary);
  const auto is_too_small = [&] { return tree[top].threads + others_in(within, top) > live->cpus_of(within); };
  while (is_too_small() && tree[top].parent != BubbleTree::kRoot) {
    top = tree[top].parent;
    within = own_part(top, primary);
  }
  if (is_too_small()) within = kWholeMachine;
  policy::distribute(live->stack, tree, live->places, memory::costs(), top, within, live->place, live->planning);
  live->remember(top, plans.load(std::memory_order_relaxed) + 1);
}

// The primary thread of a nested team keeps the seat that it has in the team around.
void unseat(Team* team) {
  for (std::int32_t i = team->parent_member->entity != kNoEntity ? 1 : 0; i < team->capacity; ++i) {
    Member* member = team->members[i];
    if (member == nullptr) continue;
    member->seat = kNoPlace;
    if (member->entity != kNoEntity) live->place[member->entity] = kNoPlace;
  }
}

void hand_out(Team* team, std::int32_t size) {
  const std::uint32_t number = new_placing();
  for (std::int32_t i = 0; i < size; ++i) {
    Member& member = *team->members[i];
    const PlaceId seat = live->place[member.entity];
    if (seat == member.seat && member.placing != 0) continue;
    member.seat = seat;
    member.placing = number;
  }
}

// More threads than CPUs: binding them would only keep the kernel from balancing.
bool is_crowded() { return live->tree[BubbleTree::kRoot].threads > live->cpus_of(kWholeMachine); }

// A team that shrinks keeps its seats, with its data, until half of its part is idle.
bool has_to_plan(const Team* team, std::int32_t size) {
  return size > team->seating.planned || 2 * size <= team->seating.planned;
}

void seat(Team* team, std::int32_t size) {
  if (has_to_plan(team, size)) {
    if (!enter(team, size) || !live->make_room(policy::planning_bytes(live->tree, live->places))) {
      HEARTH_WARN_ONCE("there are more threads and teams than Hearth can place (%d): the kernel chooses where new ones run.",
                       live->room.entities);
      return unseat(team);
    }
    BubbleTree& tree = live->tree;
    const EntityId primary = team->members[0]->entity;
    if (live->place[primary] == kNoPlace) tree[primary].last_cpu = cpu_here();
    tree.sum_up();
    team->seating.planned = size;
    if (live->placed_by_user) return;
    if (is_crowded()) return unseat(team);
    plan(team);
    plans.fetch_add(1, std::memory_order_relaxed);
  }
  if (live->placed_by_user) return;
  hand_out(team, size);
}

void warn_of_refused(const topology::CpuMask& mask) {
  HEARTH_WARN_ONCE(
      "sched_setaffinity is refused (%s): CPUs {%s} are no longer available, or a sandbox forbids the call. Threads are not "
      "kept near their data.",
      strerror(errno), mask.list().c_str());
}

bool is_away_from(PlaceId seat) {
  const std::uint32_t cpu = cpu_here();
  if (seat < 0 || cpu == kNoCpu) return false;
  const PlaceId leaf = live->places.leaf_of_cpu(cpu);
  return leaf == kNoPlace || !live->places.holds(seat, leaf);
}

// A thread of the program goes to its seat and is free to leave: its mask is as before when it returns.
// What it has bound itself to holds.
void move_root_to(PlaceId seat) {
  const topology::CpuMask own = topology::current_affinity();
  const topology::CpuMask both = own & live->mask_of(seat);
  if (!both.empty() && !topology::visit(both, own)) warn_of_refused(both);
}

// The kernel may have moved it since the last region. Each time that it has to be fetched back, more regions pass before the
// next time: others may need that CPU.
void keep_root_near(Thread* self, PlaceId seat) {
  constexpr std::uint16_t kSettled = 64, kMostRegions = 1024;
  if (HEARTH_UNLIKELY(seat != self->bound_seat)) {  // a plan has moved it
    self->bound_seat = seat;
    self->regions_near = self->regions_away = 0;
    self->away_limit = 1;
    if (is_away_from(seat)) move_root_to(seat);
    return;
  }
  if (HEARTH_LIKELY(!is_away_from(seat))) {
    self->regions_away = 0;
    if (self->away_limit == 1 || ++self->regions_near < kSettled) return;
    self->regions_near = 0;
    self->away_limit = 1;
    return;
  }
  self->regions_near = 0;
  if (++self->regions_away < self->away_limit) return;
  self->regions_away = 0;
  if (self->away_limit < kMostRegions) self->away_limit = static_cast<std::uint16_t>(2 * self->away_limit);
  move_root_to(seat);
}

void seat_and_note(Team* team, std::int32_t size) {
  LockGuard guard(live->lock);
  seat(team, size);
  team->seating.size = size;
  team->seating.plan = plans.load(std::memory_order_relaxed);
}

bool hints_are_due(const Team* team) { return team->hints_due != 0 || team->parent_member->hints_due != 0; }

// The members look in at take_seat() before they begin.
void call_members(Team* team, std::int32_t size) {
  const std::uint32_t number = new_placing();
  for (std::int32_t i = 0; i < size; ++i) team->members[i]->placing = number;
}

// The smallest seat that holds a place of the user's; kNoPlace: there is none.
PlaceId seat_around(std::int32_t users_place) {
  PlaceId around = kNoPlace;
  for_each_cpu_of_place(
      users_place,
      [](void* result, unsigned cpu) {
        auto& found = *static_cast<PlaceId*>(result);
        const PlaceId leaf = live->places.leaf_of_cpu(cpu);
        if (leaf != kNoPlace) found = found == kNoPlace ? leaf : live->places.common(found, leaf);
      },
      &around);
  return around;
}

void note_places(Team* team) {
  LockGuard guard(live->lock);
  for (std::int32_t i = 0; i < team->size; ++i) {
    Member& member = *team->members[i];
    if (member.entity == kNoEntity) continue;
    member.seat = live->place[member.entity] = seat_around(member.place);
  }
  live->enclose_bubbles(live->place);
}

bool user_places_threads() {
  const Settings& s = settings();
  return place_count() != 0 || s.proc_bind_count > 0 || !s.places.empty() || !s.kmp_affinity.empty() ||
         !s.gomp_cpu_affinity.empty();
}

// A team of one is no bubble: its thread sits where it does in the team around.
void seat_alone(Thread* self, Member& alone, const Member& outer) {
  if (HEARTH_UNLIKELY(outer.hints_due != 0) && !live->placed_by_user) put_hints_in_force(alone.team);
  alone.entity = outer.entity;
  alone.seat = std::int32_t{outer.seat};
  alone.placing = self->placed;
  if (self->is_root && !live->placed_by_user) keep_root_near(self, alone.seat);
}

}  // namespace

void init_seats() {
  const policy::BubbleStack stack = policy::bubbles_at(static_cast<std::size_t>(settings().bubbles));
  if (stack.above == nullptr || !has_several_locations()) return;
  const topology::Machine& machine = topology::machine();
  const std::int32_t locations = memory::memory_homes().locations;
  auto* made = new (std::nothrow) LiveTree;
  if (made == nullptr) return;
  const auto cpus = static_cast<std::int32_t>(machine.usable.count());
  made->room = {.entities = 4 * cpus + 1024, .attachments = LiveTree::kAttachments, .locations = locations};
  const auto entities = static_cast<std::size_t>(made->room.entities);
  const auto attachments = static_cast<std::size_t>(made->room.attachments);
  made->tree_memory = std::malloc(BubbleTree::bytes_for(made->room));
  made->place = static_cast<PlaceId*>(std::malloc(2 * entities * sizeof(PlaceId)));
  made->new_place = made->place + entities;
  made->target = static_cast<Location*>(std::malloc(attachments * sizeof(Location)));
  made->hint = static_cast<Hint*>(std::malloc(attachments * sizeof(Hint)));
  void* places = std::malloc(placement::PlaceTree::bytes_for(machine));
  if (made->tree_memory == nullptr || made->place == nullptr || made->target == nullptr || made->hint == nullptr ||
      places == nullptr) {
    HEARTH_WARN_ONCE("out of memory: teams are not placed beside their data.");
    return;
  }
  made->places.fill(machine, locations, kSeatLevels[settings().seats], places);
  if (made->places[kWholeMachine].location != placement::kUnknown) return;  // all CPUs are at one location
  made->placed_by_user = user_places_threads();
  if (!made->placed_by_user) made->stack = stack;
  made->before = topology::current_affinity();
  made->pretended = machine.pretended;
  live = made;
  live->begin();
  hear_of_announcements();
  memory::areas.set_observer([](memory::AreaEvent event, const memory::Area& area, const memory::Area&) {
    if (event == memory::AreaEvent::released) forget_hints_in(area.range);
  });
  process.seats_teams = true;
  if (settings().rebalance && !made->placed_by_user) begin_to_balance();
}

void seat_team(Thread* self, Team* team, std::int32_t size) {
  Member& primary = *team->members[0];
  if (size == 1) return seat_alone(self, primary, *team->parent_member);
  if (process.measures_load && self->team == self->root_team) look_at_balance(self);
  const Team::Seating wanted{.size = size, .planned = team->seating.planned,
                             .plan = plans.load(std::memory_order_relaxed)};
  if (self->is_root && !live->placed_by_user) keep_root_near(self, primary.seat);
  const bool due = HEARTH_UNLIKELY(hints_are_due(team)) && !live->placed_by_user;
  if (HEARTH_LIKELY(team->seating == wanted) && !due) return;
  seat_and_note(team, size);
  if (!due) return;
  put_hints_in_force(team);
  seat_and_note(team, size);
}

void call_team_to_move(Team* team, std::int32_t size) {
  if (HEARTH_UNLIKELY(hand_announced_to(team)) || HEARTH_UNLIKELY(migration_is_pending())) call_members(team, size);
}

void sit_where_placed(Team* team, bool changed) {
  if (!live->placed_by_user) return;
  if (changed) note_places(team);
  if (HEARTH_LIKELY(!hints_are_due(team))) return;
  put_hints_in_force(team);
  if (migration_is_pending()) call_members(team, team->size);
}

void take_seat(Thread* self, Member* member) {
  self->placed = member->placing;
  // pairs with the acquires in busy_part() (balance.cpp) and bind_member() (relocate.cpp): the thread object may be new
  member->seated.store(self, std::memory_order_release);
  self->sits_as = member->entity;
  const PlaceId seat = member->seat;
  if (!live->pretended && !live->placed_by_user) {
    if (self->is_root) {
      if (is_away_from(seat)) move_root_to(seat);
    } else if (seat != self->bound_seat) {
      const topology::CpuMask& mask = seat >= 0 ? live->mask_of(seat) : live->before;
      if (!topology::set_affinity(0, mask)) warn_of_refused(mask);
    }
  }
  self->bound_seat = seat;
  help_to_migrate();
  move_announced_part(self, member);
}

void leave_seats(Team* team) {
  if (live == nullptr || team->bubble == kNoEntity) return;
  LockGuard guard(live->lock);
  BubbleTree& tree = live->tree;
  Member& primary = *team->members[0];
  const EntityId around = tree[team->bubble].parent;
  if (around != BubbleTree::kRoot && primary.entity != kNoEntity) {
    tree.move_to(primary.entity, around);
    tree[primary.entity].tag = reinterpret_cast<std::uintptr_t>(team->parent_member);
  }
  live->remove(team->bubble);
  team->bubble = kNoEntity;
}

void forget_seats() {
  forget_migration();
  forget_balance();
  if (live == nullptr) return;
  live->lock.reset();
  live->begin();
}

void forget_seats_of(Team* team) {
  team->bubble = kNoEntity;
  team->seating = {};
  Member& primary = team->primary();
  primary.entity = kNoEntity;
  primary.seat = kNoPlace;
  primary.placing = 0;
  if (primary.said != nullptr) *primary.said = {};
}

placement::Location location_of_seat(PlaceId seat) {
  return live == nullptr || seat < 0 ? placement::kUnknown : live->places[seat].location;
}

Member* member_of_bubble(const Thread* self) {
  Member* member = self->member;
  while (member->team->size == 1 && member->team->parent_member != nullptr) member = member->team->parent_member;
  return member;
}

placement::Location location_of_caller(const Thread* self) {
  const Location seat = location_of_seat(member_of_bubble(self)->seat);
  return seat >= 0 ? seat : memory::location_here();
}

std::size_t mask_of_seat(PlaceId seat, void* mask, std::size_t room) {
  if (live == nullptr || seat < 0 || live->pretended || live->placed_by_user) return 0;
  const topology::CpuMask cpus = live->mask_of(seat);
  if (cpus.bytes() > room) return 0;
  std::memcpy(mask, cpus.words(), cpus.bytes());
  return cpus.bytes();
}

}  // namespace hearth::rt
