#include "runtime/team/crowd.h"

#include <sched.h>

#include "runtime/binding/places.h"
#include "runtime/state/process.h"
#include "runtime/state/team.h"
#include "runtime/sync/wait.h"
#include "topology/allowance.h"

namespace hearth::rt {
namespace {

// Ranks in the caller's mask.
struct Part {
  std::size_t first, width;
};

bool is_nested(const Team* team) { return team->level > 1; }

Part part_of(const Team* team, std::size_t cpus) {
  if (!is_nested(team)) return {0, cpus};
  const Part around = part_of(team->parent, cpus);
  const auto parts = static_cast<std::size_t>(team->parent->size);
  const auto part = static_cast<std::size_t>(team->parent_member->tid);
  const std::size_t first = part * around.width / parts, end = (part + 1) * around.width / parts;
  return {around.first + first, end > first ? end - first : 1};
}

// How many CPUs of the mask are below this one.
std::size_t rank_of(const topology::CpuMask& mask, std::int32_t cpu) {
  std::size_t below = 0;
  mask.for_each([&](unsigned member) { below += static_cast<std::int32_t>(member) < cpu; });
  return below;
}

// Refused, the kernel's choice stands.
void visit_rank(const topology::CpuMask& mask, std::size_t rank) { topology::visit({mask.nth(rank)}, mask); }

}  // namespace

bool begins_in_crowd(const Team* team) {
  return !affinity_active() && team->members[0]->seat < 0 &&
         contention.busy_threads.load(std::memory_order_relaxed) >= process.visible_cpus;
}

void go_to_part_of(const Team* team) {
  if (!is_nested(team)) return;
  const topology::CpuMask mine = topology::current_affinity();
  const Part part = part_of(team, mine.count());
  const std::size_t here = rank_of(mine, sched_getcpu());
  if (!mine.empty() && (here < part.first || here >= part.first + part.width)) visit_rank(mine, part.first);
}

void begin_in_crowd(const Member* member, std::int32_t made_on) {
  const topology::CpuMask mine = topology::current_affinity();
  if (mine.empty()) return;
  const Team* team = member->team;
  const Part part = part_of(team, mine.count());
  const std::size_t from = is_nested(team) ? 0 : rank_of(mine, made_on);
  visit_rank(mine, part.first + (from + static_cast<std::size_t>(member->tid)) % part.width);
}

}  // namespace hearth::rt
