#include "runtime/bubbles/seats.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sched.h>

#include "base/assert.h"
#include "base/log.h"
#include "memory/homes.h"
#include "placement/cost.h"
#include "policy/bubble_policy.h"
#include "runtime/binding/locations.h"
#include "runtime/binding/places.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/sync/lock.h"
#include "topology/binding.h"
#include "topology/current.h"

namespace hearth::rt {
namespace {

using placement::BubbleTree;
using placement::EntityId;
using placement::kNoCpu;
using placement::kNoEntity;
using placement::kNoPlace;
using placement::kWholeMachine;
using placement::PlaceId;

struct Seats {
  Lock lock;
  placement::PlaceTree places;
  placement::CostModel costs;
  BubbleTree tree;
  BubbleTree::Room room;
  void* tree_memory = nullptr;
  PlaceId* place = nullptr;  // by entity
  void* planning = nullptr;  // policy::planning_bytes() of it
  std::size_t planning_bytes = 0;
  policy::BubbleStack stack;
  topology::CpuMask before;  // the mask this process started with: what an unseated worker goes back to
  bool pretended = false;
};

// Constant after init_seats(), but for what the lock guards. Null: nobody is seated.
Seats* seats = nullptr;

// Counts plans: a team whose own seats another team's plan may have changed looks them up again. Written under the lock;
// a primary thread that reads an old value looks in its next region.
constinit std::atomic<std::uint32_t> plans{0};

constexpr std::int32_t kAttachments = 16384;

std::int32_t cpus_of(PlaceId place) { return seats->places[place].cpus; }

// ---- All of the following under the lock.

void begin_tree() {
  seats->tree.begin(seats->room, seats->tree_memory);
  for (std::int32_t i = 0; i < seats->room.entities; ++i) seats->place[i] = kNoPlace;
}

bool make_room_to_plan() {
  const std::size_t needed = policy::planning_bytes(seats->tree, seats->places);
  if (needed <= seats->planning_bytes) return true;
  void* more = std::realloc(seats->planning, 2 * needed);
  if (more == nullptr) return false;
  seats->planning = more;
  seats->planning_bytes = 2 * needed;
  return true;
}

// The CPU that the thread is on just now; on a pretended machine nobody knows.
std::uint32_t cpu_here() {
  const int cpu = seats->pretended ? -1 : sched_getcpu();
  return cpu < 0 ? kNoCpu : static_cast<std::uint32_t>(cpu);
}

// A member that has kept a nested team stays, with that.
void take_out(const Team* team, Member* member) {
  if (member->entity == kNoEntity || seats->tree[member->entity].parent != team->bubble) return;
  seats->tree.remove(member->entity);
  member->entity = kNoEntity;
  member->seat = kNoPlace;
}

// The team's bubble, with a thread for each of the first `size` members. False: the tree is full, and stays as it was but for
// threads that have left.
bool enter(Team* team, std::int32_t size) {
  BubbleTree& tree = seats->tree;
  Member& primary = *team->members[0];
  for (std::int32_t i = size; i < team->capacity; ++i)
    if (team->members[i] != nullptr) take_out(team, team->members[i]);
  if (team->bubble == kNoEntity) {
    const EntityId around = team->parent_member->entity;
    if (around != kNoEntity) {
      team->bubble = tree.enclose(around);
      if (team->bubble == kNoEntity) return false;
      primary.entity = around;
    } else {
      team->bubble = tree.add_bubble(BubbleTree::kRoot);
      if (team->bubble == kNoEntity) return false;
      primary.entity = tree.add_thread(team->bubble);
      if (primary.entity == kNoEntity) return false;
      seats->place[primary.entity] = kNoPlace;
    }
    seats->place[team->bubble] = kNoPlace;
  }
  for (std::int32_t i = 1; i < size; ++i) {
    Member& member = *team->members[i];
    if (member.entity != kNoEntity) continue;
    if ((member.entity = tree.add_thread(team->bubble)) == kNoEntity) return false;
    seats->place[member.entity] = kNoPlace;
  }
  return true;
}

// Threads in the place that are not inside the bubble.
std::int32_t others_in(PlaceId place, EntityId bubble) {
  const BubbleTree& tree = seats->tree;
  std::int32_t others = 0;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity;) {
    if (e == bubble) {
      e = tree.next_beside(e, BubbleTree::kRoot);
      continue;
    }
    others += tree[e].is_thread && seats->place[e] != kNoPlace && seats->places.holds(place, seats->place[e]);
    e = tree.next_inside(e, BubbleTree::kRoot);
  }
  return others;
}

// The largest place around the primary thread's seat that the bubble has for itself.
PlaceId own_part(EntityId bubble, EntityId primary) {
  PlaceId place = seats->place[primary];
  if (place == kNoPlace) return kWholeMachine;
  for (PlaceId around = seats->places[place].parent; around != kNoPlace && others_in(around, bubble) == 0;
       around = seats->places[place].parent)
    place = around;
  return place;
}

// Seats for all of the smallest bubble around the team whose part of the machine has a CPU for each of its threads: a nested
// team that has outgrown its part makes the teams beside it move together.
void plan(Team* team) {
  BubbleTree& tree = seats->tree;
  tree.sum_up();
  const EntityId primary = team->members[0]->entity;
  EntityId top = team->bubble;
  PlaceId within = own_part(top, primary);
  const auto is_too_small = [&] { return tree[top].threads + others_in(within, top) > cpus_of(within); };
  while (is_too_small() && tree[top].parent != BubbleTree::kRoot) {
    top = tree[top].parent;
    within = own_part(top, primary);
  }
  if (is_too_small()) within = kWholeMachine;
  policy::distribute(seats->stack, tree, seats->places, seats->costs, top, within, seats->place, seats->planning);
  const std::uint32_t now = plans.load(std::memory_order_relaxed) + 1;
  for (EntityId e = top; e != kNoEntity; e = tree.next_inside(e, top)) {
    if (!tree[e].is_thread || seats->place[e] == kNoPlace) continue;
    const PlaceId leaf = tree[e].last_cpu == kNoCpu ? kNoPlace : seats->places.leaf_of_cpu(tree[e].last_cpu);
    if (leaf == kNoPlace || !seats->places.holds(seats->place[e], leaf))
      tree[e].last_cpu = seats->places.cpus(seats->place[e])[0];
    tree[e].last_ran = now;
  }
}

void unseat(Team* team) {
  for (std::int32_t i = 0; i < team->capacity; ++i)
    if (team->members[i] != nullptr) team->members[i]->seat = kNoPlace;
}

void hand_out(Team* team, std::int32_t size, std::uint32_t number) {
  for (std::int32_t i = 0; i < size; ++i) {
    Member& member = *team->members[i];
    const PlaceId seat = seats->place[member.entity];
    if (seat == member.seat && member.placing != 0) continue;
    member.seat = seat;
    member.placing = number;
  }
}

// More threads than CPUs: binding them would only keep the kernel from balancing.
bool is_crowded() { return seats->tree[BubbleTree::kRoot].threads > cpus_of(kWholeMachine); }

// A team that shrinks keeps its seats, with its data, until half of its part is idle.
bool has_to_plan(const Team* team, std::int32_t size) {
  return size > team->seating.planned || 2 * size <= team->seating.planned;
}

void seat(Team* team, std::int32_t size) {
  if (has_to_plan(team, size)) {
    if (!enter(team, size) || !make_room_to_plan()) {
      HEARTH_WARN_ONCE("there are more threads and teams than Hearth can place (%d): the kernel chooses where new ones run.",
                       seats->room.entities);
      return unseat(team);
    }
    BubbleTree& tree = seats->tree;
    const EntityId primary = team->members[0]->entity;
    if (seats->place[primary] == kNoPlace) tree[primary].last_cpu = cpu_here();
    tree.sum_up();
    team->seating.planned = size;
    if (is_crowded()) return unseat(team);
    plan(team);
    plans.fetch_add(1, std::memory_order_relaxed);
  }
  hand_out(team, size, plans.load(std::memory_order_relaxed));
}

bool say_mask(const topology::CpuMask& mask) {
  if (sched_setaffinity(0, mask.bytes(), reinterpret_cast<const cpu_set_t*>(mask.words())) == 0) return true;
  HEARTH_WARN_ONCE(
      "sched_setaffinity is refused (%s): CPUs {%s} are no longer available, or a sandbox forbids the call. Threads are not "
      "kept near their data.",
      strerror(errno), mask.list().c_str());
  return false;
}

topology::CpuMask mask_of(PlaceId place) {
  topology::CpuMask mask;
  const std::uint32_t* cpus = seats->places.cpus(place);
  for (std::int32_t i = 0; i < cpus_of(place); ++i) mask.set(cpus[i]);
  return mask;
}

bool user_places_threads() {
  const Settings& s = settings();
  return place_count() != 0 || s.proc_bind_count > 0 || !s.places.empty() || !s.kmp_affinity.empty() ||
         !s.gomp_cpu_affinity.empty();
}

}  // namespace

void init_seats() {
  const policy::BubbleStack stack = policy::bubbles_at(static_cast<std::size_t>(settings().bubbles));
  if (stack.above == nullptr || user_places_threads() || !has_several_locations()) return;
  const topology::Machine& machine = topology::machine();
  const std::int32_t locations = memory::memory_homes().locations;
  auto* made = new (std::nothrow) Seats;
  if (made == nullptr) return;
  const auto cpus = static_cast<std::int32_t>(machine.usable.count());
  made->room = {.entities = 4 * cpus + 1024, .attachments = kAttachments, .locations = locations};
  made->tree_memory = std::malloc(BubbleTree::bytes_for(made->room));
  made->place = static_cast<PlaceId*>(std::malloc(static_cast<std::size_t>(made->room.entities) * sizeof(PlaceId)));
  void* places = std::malloc(placement::PlaceTree::bytes_for(machine));
  if (made->tree_memory == nullptr || made->place == nullptr || places == nullptr) {
    HEARTH_WARN_ONCE("out of memory: teams are not placed beside their data.");
    return;
  }
  made->places.fill(machine, locations, kSeatLevels[settings().seats], places);
  if (made->places[kWholeMachine].location != placement::kUnknown) return;  // all CPUs are at one location
  made->costs.fill(machine, locations);
  made->stack = stack;
  made->before = topology::current_affinity();
  made->pretended = machine.pretended;
  seats = made;
  begin_tree();
  process.seats_teams = true;
}

void seat_team(Thread* self, Team* team, std::int32_t size) {
  Member& primary = *team->members[0];
  if (size == 1) {
    const Member& outer = *team->parent_member;
    primary.entity = outer.entity;
    primary.seat = outer.seat;
    primary.placing = self->placed;
    return;
  }
  const Team::Seating wanted{.size = size, .planned = team->seating.planned,
                             .plan = plans.load(std::memory_order_relaxed)};
  if (HEARTH_LIKELY(team->seating == wanted)) return;
  LockGuard guard(seats->lock);
  seat(team, size);
  team->seating.size = size;
  team->seating.plan = plans.load(std::memory_order_relaxed);
}

void take_seat(Thread* self, const Member* member) {
  self->placed = member->placing;
  const PlaceId seat = member->seat;
  if (self->is_root || seat == self->bound_seat) return;
  self->bound_seat = seat;
  if (!seats->pretended) say_mask(seat >= 0 ? mask_of(seat) : seats->before);
}

void leave_seats(Team* team) {
  if (seats == nullptr || team->bubble == kNoEntity) return;
  LockGuard guard(seats->lock);
  BubbleTree& tree = seats->tree;
  Member& primary = *team->members[0];
  const EntityId around = tree[team->bubble].parent;
  if (around != BubbleTree::kRoot && primary.entity != kNoEntity) tree.move_to(primary.entity, around);
  tree.remove(team->bubble);
  team->bubble = kNoEntity;
}

void forget_seats() {
  if (seats == nullptr) return;
  seats->lock.reset();
  begin_tree();
}

void forget_seats_of(Team* team) {
  team->bubble = kNoEntity;
  team->seating = {};
  Member& primary = team->primary();
  primary.entity = kNoEntity;
  primary.seat = kNoPlace;
  primary.placing = 0;
}

placement::Location location_of_seat(PlaceId seat) {
  return seats == nullptr || seat < 0 ? placement::kUnknown : seats->places[seat].location;
}

std::size_t mask_of_seat(PlaceId seat, void* mask, std::size_t room) {
  if (seats == nullptr || seat < 0 || seats->pretended) return 0;
  const topology::CpuMask cpus = mask_of(seat);
  if (cpus.bytes() > room) return 0;
  std::memcpy(mask, cpus.words(), cpus.bytes());
  return cpus.bytes();
}

}  // namespace hearth::rt
