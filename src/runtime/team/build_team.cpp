#include "runtime/team/build_team.h"

#include <cstdlib>
#include <new>

#include <sched.h>

#include "base/assert.h"
#include "base/log.h"
#include "policy/task_policy.h"
#include "runtime/bubbles/seats.h"
#include "runtime/locality/team_locality.h"
#include "runtime/loop/workshare.h"
#include "runtime/state/process.h"
#include "runtime/sync/wait.h"
#include "runtime/task/detach.h"
#include "runtime/state/fork_word.h"
#include "runtime/team/crowd.h"
#include "runtime/team/pool.h"

namespace hearth::rt {
namespace {

template <class T>
T* make_aligned() {
  void* p = nullptr;
  if (posix_memalign(&p, alignof(T), sizeof(T)) != 0) fatal("out of memory: no room for a team");
  return new (p) T;
}

Member* make_member(Team* team, std::int32_t tid) {
  auto* member = make_aligned<Member>();
  member->team = team;
  member->tid = tid;
  member->steal_seed = static_cast<std::uint32_t>(tid + 1) * 2654435761u;
  return member;
}

// The join has waited for the tasks. Not of a program's thread that ends with tasks which nobody waits for.
[[maybe_unused]] std::uint32_t queued_tasks(const Team* team) {
  std::uint32_t waiting = team->shared_queue.size.load(std::memory_order_relaxed);
  for (int i = 0; i < team->capacity; ++i)
    if (team->members[i] != nullptr) waiting += team->members[i]->deque.looks_long();
  if (team->locality != nullptr) waiting += team->locality->dealt();
  return waiting;
}

void free_team(Team* team) {
  wait_for_outside_fulfillers();
  leave_seats(team);
  HEARTH_ASSERT_INVARIANT(team->parent_member == nullptr || queued_tasks(team) == 0,
                          "%u tasks are lost with a team of %d", queued_tasks(team), team->capacity);
  for (int i = 0; i < team->capacity; ++i) {
    if (team->members[i] == nullptr) continue;
    std::free(team->members[i]->said);
    team->members[i]->~Member();
    std::free(team->members[i]);
  }
  if (team->locality != nullptr) free_team_locality(team->locality);
  free_workshares(team);
  std::free(team->members);
  std::free(team->shared_queue.heap);
  std::free(team->shared_queue.age);
  [[maybe_unused]] const std::int32_t busy = contention.busy_threads.fetch_sub(team->staffed - 1,
                                                                               std::memory_order_relaxed);
  HEARTH_ASSERT(busy >= team->staffed - 1, "%d threads were busy, and %d workers leave", busy, team->staffed - 1);
  team->~Team();
  std::free(team);
}

}  // namespace

Team* make_team(Thread* self, std::int32_t capacity) {
  auto* team = make_aligned<Team>();
  team->capacity = capacity;
  team->members = static_cast<Member**>(std::calloc(static_cast<std::size_t>(capacity), sizeof(Member*)));
  if (team->members == nullptr) fatal("out of memory: no room for a team of %d threads", capacity);
  team->members[0] = make_member(team, 0);
  team->members[0]->thread = self;
  team->parent = self->team;
  team->parent_member = self->member;
  team->level = self->team == nullptr ? 0 : self->team->level + 1;
  team->active_level = self->team == nullptr ? 0 : self->team->active_level + (capacity > 1);
  team->size = 1;
  team->one_queue = process.policy->one_queue();
  if (HEARTH_UNLIKELY(process.several_locations)) team->locality = make_team_locality();
  return team;
}

void make_members(Team* team, std::int32_t size) {
  for (std::int32_t tid = team->staffed; tid < size; ++tid)
    if (team->members[tid] == nullptr) team->members[tid] = make_member(team, tid);
}

std::int32_t staff_team(Team* team, std::int32_t size, void* (*worker)(void*)) {
  HEARTH_ASSERT(size <= team->capacity && team->staffed >= 1, "%d of %d members have a thread, %d are wanted",
                team->staffed, team->capacity, size);
  if (team->staffed >= size) return size;
  if (begins_in_crowd(team)) go_to_part_of(team);
  // Once: the kernel may move the caller between two starts, and each new thread counts from here.
  const std::int32_t here = sched_getcpu();
  while (team->staffed < size) {
    make_members(team, team->staffed + 1);
    Member* member = team->members[team->staffed];
    member->seen_go = team->fork.go.load(std::memory_order_relaxed);
    if (!hire(member, worker, begins_in_crowd(team) ? here : -1)) return team->staffed;
    ++team->staffed;
    contention.busy_threads.fetch_add(1, std::memory_order_relaxed);
  }
  return size;
}

void disband(Team* team) {
  for (int i = 0; i < team->capacity; ++i) {
    Member* member = team->members[i];
    if (member == nullptr || (i > 0 && i < team->staffed)) continue;  // workers disband their own
    for (Team* child : {member->hot_child, member->serial_child})
      if (child != nullptr) disband(child);
  }
  const std::int32_t workers = team->staffed - 1;
  if (workers > 0) {
    team->fork.go.store(ForkWord::dismissal(team->epoch() + 1).bits,
                        std::memory_order_release);  // pairs with the acquire in serve_team() (worker.cpp)
    team->go_events.notify_all();
    Spinner spinner;
    while (team->dismissed.load(std::memory_order_acquire) != workers) {
      HEARTH_ASSERT(team->dismissed.load(std::memory_order_relaxed) <= workers,
                    "%d workers have left, and there were %d", team->dismissed.load(std::memory_order_relaxed),
                    workers);
      if (!spinner.turn()) yield_cpu();
    }
  }
  free_team(team);
}

}  // namespace hearth::rt
