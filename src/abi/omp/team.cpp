// omp_* calls about the calling thread, its team and the teams around it, and the league.
//
// Any thread of the program; each call reads the caller's own Thread, Member and Team, which change only in
// regions that the caller itself enters and leaves.
#include <climits>
#include <cstdint>

#include "abi/export.h"
#include "abi/fortran.h"
#include "runtime/state/thread.h"

using hearth::abi::narrowed;
using hearth::rt::Member;
using hearth::rt::Team;
using hearth::rt::Thread;

namespace {

struct Seat {
  const Team* team = nullptr;
  std::int32_t tid = -1;
};

/// The team at nesting level `level` around the caller, and who of it the caller or its ancestor is. Null
/// outside 0 to the current level.
Seat seat_at(int level) {
  const Thread* self = Thread::current();
  Seat seat{self->team, self->tid};
  if (level < 0 || level > seat.team->level) return {};
  while (seat.team->level > level) {
    seat.tid = seat.team->parent_member->tid;
    seat.team = seat.team->parent;
  }
  return seat;
}

int ancestor_thread_num(int level) { return seat_at(level).tid; }

int team_size(int level) {
  const Seat seat = seat_at(level);
  return seat.team == nullptr ? -1 : static_cast<int>(seat.team->size);
}

}  // namespace

HEARTH_EXPORT int omp_get_thread_num() { return Thread::current()->tid; }
HEARTH_FORTRAN(int, omp_get_thread_num);
HEARTH_EXPORT int omp_get_num_threads() { return Thread::current()->team->size; }
HEARTH_FORTRAN(int, omp_get_num_threads);
HEARTH_EXPORT int omp_in_parallel() { return Thread::current()->team->active_level > 0; }
HEARTH_FORTRAN(int, omp_in_parallel);
HEARTH_EXPORT int omp_get_level() { return Thread::current()->team->level; }
HEARTH_FORTRAN(int, omp_get_level);
HEARTH_EXPORT int omp_get_active_level() { return Thread::current()->team->active_level; }
HEARTH_FORTRAN(int, omp_get_active_level);

HEARTH_EXPORT int omp_get_ancestor_thread_num(int level) { return ancestor_thread_num(level); }
HEARTH_EXPORT int omp_get_ancestor_thread_num_(const std::int32_t* level) {
  return ancestor_thread_num(*level);
}
HEARTH_EXPORT int omp_get_ancestor_thread_num_8_(const std::int64_t* level) {
  return ancestor_thread_num(narrowed(*level));
}
HEARTH_EXPORT int ompc_get_ancestor_thread_num(int level) { return ancestor_thread_num(level); }
HEARTH_EXPORT int omp_get_team_size(int level) { return team_size(level); }
HEARTH_EXPORT int omp_get_team_size_(const std::int32_t* level) { return team_size(*level); }
HEARTH_EXPORT int omp_get_team_size_8_(const std::int64_t* level) { return team_size(narrowed(*level)); }
HEARTH_EXPORT int ompc_get_team_size(int level) { return team_size(level); }

HEARTH_EXPORT int omp_in_final() { return Thread::current()->task->is(hearth::rt::kTaskFinal); }
HEARTH_FORTRAN(int, omp_in_final);
HEARTH_EXPORT int omp_in_explicit_task() { return !Thread::current()->task->is(hearth::rt::kTaskImplicit); }
HEARTH_FORTRAN(int, omp_in_explicit_task);

// Leagues.
HEARTH_EXPORT int omp_get_num_teams() { return Thread::current()->team->num_teams; }
HEARTH_FORTRAN(int, omp_get_num_teams);
HEARTH_EXPORT int omp_get_team_num() { return Thread::current()->team->team_num; }
HEARTH_FORTRAN(int, omp_get_team_num);

// OpenMP 6.0: threads outside a team that execute its tasks. There are none here.
HEARTH_EXPORT int omp_is_free_agent() { return 0; }
HEARTH_FORTRAN(int, omp_is_free_agent);
HEARTH_EXPORT int omp_ancestor_is_free_agent(int) { return 0; }
HEARTH_EXPORT int omp_ancestor_is_free_agent_(const std::int32_t*) { return 0; }

// OpenMP 6.1: leagues and teams of several dimensions. Here all have one; a further dimension has the
// extent 1.
HEARTH_EXPORT int omp_get_num_teams_dim(int dim) {
  return dim == 0 ? static_cast<int>(Thread::current()->team->num_teams) : 1;
}
HEARTH_EXPORT int omp_get_team_num_dim(int dim) {
  return dim == 0 ? static_cast<int>(Thread::current()->team->team_num) : 0;
}
HEARTH_EXPORT int omp_get_num_threads_dim(int dim) {
  return dim == 0 ? static_cast<int>(Thread::current()->team->size) : 1;
}
HEARTH_EXPORT int omp_get_thread_num_dim(int dim) { return dim == 0 ? Thread::current()->tid : 0; }
HEARTH_EXPORT int omp_get_thread_limit_dim(int dim) {
  return dim == 0 ? Thread::current()->task->icvs->thread_limit : 1;
}
HEARTH_EXPORT int omp_get_supported_teams_dim(int dim) { return dim == 0 ? INT_MAX : 1; }
HEARTH_EXPORT int omp_get_supported_threads_dim(int dim) { return dim == 0 ? INT_MAX : 1; }
HEARTH_EXPORT int omp_get_supported_active_league_dims() { return 1; }
HEARTH_FORTRAN(int, omp_get_supported_active_league_dims);
HEARTH_EXPORT int omp_get_supported_active_team_dims() { return 1; }
HEARTH_FORTRAN(int, omp_get_supported_active_team_dims);
