#include "runtime/team/fork.h"

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "memory/touch_trap.h"
#include "policy/task_policy.h"
#include "runtime/binding/places.h"
#include "runtime/bubbles/relocate.h"
#include "runtime/bubbles/seats.h"
#include "runtime/team/implicit_task.h"
#include "runtime/locality/team_locality.h"
#include "runtime/state/region.h"
#include "runtime/loop/workshare.h"
#include "runtime/settings/settings.h"
#include "runtime/state/process.h"
#include "runtime/state/thread_table.h"
#include "runtime/sync/wait.h"
#include "runtime/team/barrier.h"
#include "runtime/state/fork_word.h"
#include "runtime/team/budget.h"
#include "runtime/team/build_team.h"
#include "runtime/team/worker.h"
#include "runtime/tools/events.h"

namespace hearth::rt {
namespace {

// The ICVs of the new region's implicit tasks: the encountering task's block itself where nothing differs.
// gcc's proc_bind clause also sets bind-var inside the region, and a list in a num_threads clause
// nthreads-var.
Icvs* icvs_for(Team* team, Icvs* encountering, std::int32_t gcc_bind, const ThreadsList* clause) {
  const Settings& s = settings();
  const ThreadsList* list = encountering->nthreads_list;
  const bool next_threads =
      HEARTH_UNLIKELY(clause != nullptr) ||
      (encountering->nthreads_level >= 0 &&
       encountering->nthreads_level + 1 < (list != nullptr ? list->count : s.num_threads_count));
  const bool next_bind = encountering->bind_level + 1 < s.proc_bind_count;
  const bool other_bind = HEARTH_UNLIKELY(gcc_bind != 0) && encountering->bind != 0;
  if (HEARTH_LIKELY(!next_threads && !next_bind && !other_bind)) return encountering;
  Icvs& own = team->own_icvs;
  own = *encountering;
  own.retired = nullptr;
  if (other_bind) own.bind = gcc_bind;
  if (clause != nullptr) {
    own.nthreads_list = list = clause;
    own.nthreads_level = 0;
  }
  if (next_threads) {
    ++own.nthreads_level;
    own.nthreads = list != nullptr ? list->values[own.nthreads_level] : s.num_threads[own.nthreads_level];
  }
  if (next_bind) own.bind = static_cast<std::int32_t>(s.proc_bind[++own.bind_level]);
  return &own;
}

Team* team_for(Thread* self, std::int32_t size) {
  Member* me = self->member;
  Team*& slot = size == 1 ? me->serial_child : me->hot_child;
  if (HEARTH_UNLIKELY(slot != nullptr && slot->capacity < size)) {
    disband(slot);
    slot = nullptr;
  }
  if (HEARTH_UNLIKELY(slot == nullptr)) {
    slot = make_team(self, size);
    slot->members[0]->thread = self;
  }
  return slot;
}

}  // namespace

std::int32_t decide_team_size(Thread* self, std::int32_t requested) {
  const Icvs& icvs = *self->task->icvs;
  if (icvs.max_active_levels <= self->team->active_level || settings().serial) return 1;
  std::int32_t size = requested > 0 ? requested : icvs.nthreads;
  if (icvs.dynamic && size > contention.cpus) size = contention.cpus;
  if (size > icvs.thread_limit) size = icvs.thread_limit;
  if (size > kMostThreads) size = kMostThreads;  // what a team has is made for as many members
  return size < 1 ? 1 : size;
}

namespace {

// The team around the initial task of the caller's contention group.
Team* group_of(Thread* self) {
  Team* team = self->team;
  while (team->parent_member != nullptr) team = team->parent;
  return team;
}

// thread-limit-var counts the threads of all regions of a contention group. Takes up to `size` - 1 of what is
// left, and returns the team size that this gives.
std::int32_t reserve(Thread* self, std::int32_t size) {
  const std::int32_t most = self->task->icvs->thread_limit - 1;
  std::atomic<std::int32_t>& taken = group_of(self)->group_reserved;
  std::int32_t seen = taken.load(std::memory_order_relaxed);
  std::int32_t mine;
  do {
    mine = size - 1 < most - seen ? size - 1 : most - seen;
    if (mine <= 0) return 1;
  } while (!taken.compare_exchange_weak(seen, seen + mine, std::memory_order_relaxed));
  return mine + 1;
}

void give_back(Thread* self, std::int32_t count) {
  [[maybe_unused]] const std::int32_t before = group_of(self)->group_reserved.fetch_sub(count,
                                                                                        std::memory_order_relaxed);
  HEARTH_ASSERT(before >= count && count >= 0, "the contention group holds %d threads and gives back %d", before,
                count);
}

// The workers that the last region had have announced its end.
[[maybe_unused]] std::int32_t first_that_has_not_joined(const Team* team) {
  for (std::int32_t i = 1; i < team->size; ++i)
    if (team->members[i]->joined.load(std::memory_order_relaxed) >> 1 != team->epoch()) return i;
  return 0;
}

void check_before_fork([[maybe_unused]] Thread* self, [[maybe_unused]] Team* team, [[maybe_unused]] std::int32_t size) {
  HEARTH_ASSERT(size >= 1 && size <= team->staffed && team->staffed <= team->capacity,
                "a region of %d, with %d threads in a team of %d", size, team->staffed, team->capacity);
  HEARTH_ASSERT(team->parent_member == self->member && team->members[0]->thread == self,
                "thread %d forks with a team of another", self->gtid);
  HEARTH_ASSERT_INVARIANT(first_that_has_not_joined(team) == 0, "member %d of %d is still in region %u",
                          first_that_has_not_joined(team), int{team->size}, team->epoch());
}

}  // namespace

namespace {

// The seats come before the threads, so that new ones begin, with their stacks, where they are to run. Returns the size reached.
[[gnu::noinline]] std::int32_t seat_and_staff(Thread* self, Team* team, std::int32_t size) {
  make_members(team, size);
  seat_team(self, team, size);
  call_team_to_move(team, size);
  if (team->staffed >= size) return size;
  const std::int32_t reached = staff_team(team, size, worker_main);
  if (reached < size) seat_team(self, team, reached);
  return reached;
}

inline void fill(ForkLine& line, const Region& region) {
  line.is_kmp = region.is_kmp;
  line.argc = region.argc;
  line.function = region.function;
  if (region.is_kmp) {
    line.argv = region.argv;
    if (region.argc <= ForkLine::kInlineArgs)
      for (int i = 0; i < region.argc; ++i) line.args[i] = region.argv[i];
  } else {
    line.data = region.data;
  }
}

void note_begin(LiveLine& counts, std::int32_t size) {
  counts.team_size.store(static_cast<std::uint32_t>(size), std::memory_order_relaxed);
  counts.regions_open.store(counts.regions_open.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  LiveLine::add(counts.regions);
}

void note_end(LiveLine& counts, std::int32_t outer_size) {
  if (const std::uint32_t open = counts.regions_open.load(std::memory_order_relaxed); open != 0)  // 0: forked inside
    counts.regions_open.store(open - 1, std::memory_order_relaxed);
  counts.team_size.store(static_cast<std::uint32_t>(outer_size), std::memory_order_relaxed);
  if (HEARTH_UNLIKELY(process.seats_teams)) publish_moves();
}

}  // namespace

Team* begin_region(Thread* self, const Region& region) {
  // The last region's workers hold the line while they wait; fetching it takes as long as all that follows.
  if (const Team* last = self->member->hot_child) prefetch_to_write(&last->fork);
  if (events::active() && !region.is_league)
    events::parallel_begin(self, region,
                           region.num_threads > 0 ? region.num_threads : self->task->icvs->nthreads);
  std::int32_t size = decide_team_size(self, region.num_threads);
  const bool limited = HEARTH_UNLIKELY(self->task->icvs->thread_limit != INT32_MAX) && size > 1;
  if (limited) size = reserve(self, size);
  const std::int32_t reserved = limited ? size - 1 : 0;
  budget::Part part;
  if (HEARTH_UNLIKELY(process.has_budget) && size > 1) size = budget::take(self, size, part);
  Team* team = team_for(self, size);
  if (HEARTH_UNLIKELY(process.seats_teams))
    size = seat_and_staff(self, team, size);
  else if (HEARTH_UNLIKELY(team->staffed < size))
    size = staff_team(team, size, worker_main);
  if (HEARTH_UNLIKELY(reserved != 0)) {
    if (reserved > size - 1) give_back(self, reserved - (size - 1));
    team->reserved = size - 1;
  }
  if (HEARTH_UNLIKELY(part.asked)) budget::note(team, part);

  check_before_fork(self, team, size);
  const bool resized = size != team->size;
  Member& mine = *team->members[0];
  const std::uint32_t epoch = team->epoch() + 1;
  if (HEARTH_UNLIKELY(resized || team->cancel.load(std::memory_order_relaxed) != 0)) {
    // Members that sat out, joined or left barriers early count on from the furthest of all.
    std::uint64_t base = mine.phase;
    for (int i = 0; i < team->staffed; ++i)
      if (team->members[i]->phase > base) base = team->members[i]->phase;
    team->phase_base = base;
    team->resync_epoch = epoch;
    team->cancel.store(0, std::memory_order_relaxed);
    team->size = size;
    team->active_level = self->team->active_level + (size > 1);
    team->singles.store(0, std::memory_order_relaxed);  // the primary thread may have left before it met any
    restart_workshares(team);
    if (HEARTH_UNLIKELY(team->locality != nullptr)) recount_workers(team);
  }
  const bool flat = size <= Team::kFlat || size > contention.cpus;
  if (HEARTH_UNLIKELY(flat != team->flat)) team->flat = flat;
  if (HEARTH_UNLIKELY(mine.singles != 0)) team->singles.store(0, std::memory_order_relaxed);
  if (HEARTH_UNLIKELY(team->tasked.load(std::memory_order_relaxed) != 0))
    team->tasked.store(0, std::memory_order_relaxed);
  if (HEARTH_UNLIKELY(team->parent_task != self->task)) team->parent_task = self->task;
  Icvs* const icvs =
      icvs_for(team, self->task->icvs, region.is_kmp ? 0 : region.proc_bind, region.threads_list);
  if (HEARTH_UNLIKELY(team->icvs != icvs)) team->icvs = icvs;
  if (HEARTH_UNLIKELY(team->region_group != region.group)) team->region_group = region.group;
  if (HEARTH_UNLIKELY(team->num_teams != self->team->num_teams || team->team_num != self->team->team_num)) {
    team->num_teams = self->team->num_teams;
    team->team_num = self->team->team_num;
  }
  if (HEARTH_UNLIKELY(affinity_active())) {
    const bool changed = place_team(self, team, region.proc_bind);
    if (process.seats_teams) sit_where_placed(team, changed);
  }

  if (events::active()) events::region_published(self, team, region);
  ForkLine& line = team->fork;
  fill(line, region);
  note_begin(*self->live, size);  // before the fork: a worker may end the process, and reports our counts
  // Pairs with the acquire loads of `go` in serve_team() (worker.cpp).
  line.go.store(ForkWord::region(epoch, size).bits, std::memory_order_release);
  if (size > 1) {
    count_shared_write();
    team->go_events.notify_all();
  }

  self->team = team;
  self->member = &mine;
  self->tid = 0;
  begin_implicit_task(self, &mine);
  if (HEARTH_UNLIKELY(mine.placing != self->placed)) move_to_place(self, &mine);
  if (events::active()) events::implicit_task_begin(self);
  return team;
}

void end_region(Thread* self) {
  Team* team = self->team;
  HEARTH_ASSERT(self->tid == 0 && self->task == &self->member->implicit && team->parent_member != nullptr,
                "thread %d, member %d, ends a region in another task than it has begun it in", self->gtid, self->tid);
  if (events::active()) events::join_begin(self);
  wait_for_join(self);
  if (events::active()) {
    events::join_end(self);
    events::implicit_task_end(self);
  }
  if (HEARTH_UNLIKELY(team->reserved != 0)) {
    give_back(self, team->reserved);
    team->reserved = 0;
  }
  if (HEARTH_UNLIKELY(team->budget != 0)) budget::give(self, team);
  note_end(*self->live, team->parent->size);
  Member* outer = team->parent_member;
  self->member = outer;
  self->team = team->parent;
  self->tid = outer->tid;
  self->task = team->parent_task;
  if (HEARTH_UNLIKELY(affinity_active())) leave_places(self);
  // What waits for its next touch was closed for the time of an outermost region.
  if (HEARTH_UNLIKELY(memory::any_marks()) && self->team == self->root_team) memory::open_marks();
  if (events::active()) events::parallel_end(self, team);
}

void parallel(Thread* self, const Region& region) {
  Team* team = begin_region(self, region);
  run_share(self, team->fork);
  end_region(self);
}

}  // namespace hearth::rt
