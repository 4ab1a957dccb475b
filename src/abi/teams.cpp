// Teams constructs on the host.
//
// Any thread. Each team of a league starts with an initial task of its own (runtime/team/initial_task.h). clang's
// leagues run side by side: the teams are the members of a parallel region, which share the machine's CPUs,
// so that without a thread_limit clause each team's regions get their part of them. gcc's run one after the
// other with the whole machine, as in libgomp: its binaries take the number of threads of a team's regions
// from nthreads-var, and side by side they would oversubscribe.
#include <algorithm>
#include <climits>
#include <cstdarg>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "base/log.h"
#include "runtime/team/microtask.h"
#include "runtime/tools/events.h"
#include "runtime/team/fork.h"
#include "runtime/team/initial_task.h"
#include "runtime/state/process.h"
#include "runtime/sync/wait.h"
#include "runtime/settings/settings.h"
#include "runtime/state/own_icvs.h"
#include "runtime/state/region.h"

namespace {

using hearth::rt::Icvs;
using hearth::rt::InitialTask;
using hearth::rt::contention;
using hearth::rt::process;
using hearth::rt::Thread;

std::int32_t clamped(unsigned value) { return value > INT_MAX ? INT_MAX : static_cast<std::int32_t>(value); }

// --- clang

/// How many threads all teams of a league may have together, where the program leaves room to decide.
std::int32_t league_threads() {
  const std::int32_t given = hearth::rt::settings().kmp_teams_thread_limit;
  return given > 0 ? given : process.visible_cpus;
}

/// The thread limit of each of `teams` teams when there is no clause. A limit that was asked for is given, if the
/// whole league was not limited by name; else the teams share the CPUs.
std::int32_t default_thread_limit(const Icvs& icvs, std::int32_t teams) {
  const bool asked = icvs.teams_thread_limit > 0;
  std::int32_t limit = asked ? icvs.teams_thread_limit : contention.cpus / teams;
  if (!asked || hearth::rt::settings().kmp_teams_thread_limit > 0)
    limit = std::min(limit, league_threads() / teams);
  return std::clamp(limit, 1, std::max(icvs.thread_limit, 1));
}

struct League {
  void* microtask;
  std::int32_t argc;
  void** argv;
  std::int32_t teams;
  std::int32_t thread_limit;
  const Icvs* icvs;
  const hearth::rt::events::League* told;
};

void run_kmp_team(void* data) {
  auto* league = static_cast<League*>(data);
  Thread* self = Thread::current();
  std::int32_t gtid = self->gtid;
  std::int32_t team_thread = 0;
  hearth::rt::hearth_invoke_microtask(league->microtask, &gtid, &team_thread, league->argc, league->argv,
                                      hearth::rt::events::active() ? &self->task->ompt_exit_frame : nullptr);
}

/// What each thread of the league does. There may be fewer threads than teams; then they take turns.
void run_league(void* data) {
  auto* league = static_cast<League*>(data);
  Thread* self = Thread::current();
  const std::int32_t step = self->team->size;
  for (std::int32_t team = self->tid; team < league->teams; team += step) {
    InitialTask how;
    how.icvs = league->icvs;
    how.thread_limit = league->thread_limit;
    how.num_teams = league->teams;
    how.team_num = team;
    how.league = league->told;
    hearth::rt::run_initial_task(self, how, run_kmp_team, league);
  }
}

void push_teams(Thread* self, std::int32_t teams, std::int32_t threads) {
  const Icvs& icvs = *self->task->icvs;
  if (teams <= 0) teams = icvs.nteams > 0 ? icvs.nteams : 1;
  self->pushed_num_teams = teams;
  self->pushed_thread_limit = threads > 0 ? threads : default_thread_limit(icvs, teams);
}

}  // namespace

HEARTH_EXPORT void __kmpc_push_num_teams(ident_t*, std::int32_t, std::int32_t teams, std::int32_t threads) {
  push_teams(Thread::current(), teams, threads);
}

HEARTH_EXPORT void __kmpc_push_num_teams_51(ident_t*, std::int32_t, std::int32_t least, std::int32_t most,
                                            std::int32_t threads) {
  Thread* self = Thread::current();
  if (least == 0) least = most;  // the clause gave one number
  std::int32_t teams = most;
  if (least > most) hearth::fatal("num_teams(%d:%d): the lower bound is above the upper one.", least, most);
  if (least != most) {
    const std::int32_t room = league_threads();
    if (threads <= 0)
      teams = most > room ? least : most;
    else
      teams = threads > room ? least : room / threads;
    if (teams < least) teams = least;
    if (teams > most) teams = most;
  }
  push_teams(self, teams, threads);
}

HEARTH_EXPORT void __kmpc_set_thread_limit(ident_t*, std::int32_t, std::int32_t limit) {
  if (limit > 0) hearth::rt::own_icvs(Thread::current()).thread_limit = limit;
}

HEARTH_EXPORT void __kmpc_fork_teams(ident_t*, std::int32_t argc, void* microtask, ...) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  if (self->pushed_num_teams == 0) push_teams(self, 0, self->pushed_thread_limit);
  auto** argv = static_cast<void**>(__builtin_alloca(sizeof(void*) * static_cast<std::size_t>(argc + 1)));
  std::va_list list;
  va_start(list, microtask);
  for (std::int32_t i = 0; i < argc; ++i) argv[i] = va_arg(list, void*);
  va_end(list);

  const Icvs icvs = *self->task->icvs;
  const hearth::rt::events::League told(self, self->pushed_num_teams, ompt_parallel_invoker_runtime);
  League league{microtask, argc, argv, self->pushed_num_teams, self->pushed_thread_limit, &icvs, &told};
  self->pushed_num_teams = 0;
  self->pushed_thread_limit = 0;
  hearth::rt::Region region;
  region.function = reinterpret_cast<void*>(&run_league);
  region.data = &league;
  region.is_league = true;
  region.num_threads = league.teams;
  const hearth::rt::ProcBind bind = hearth::rt::settings().teams_proc_bind;
  region.proc_bind =
      static_cast<std::int32_t>(bind == hearth::rt::ProcBind::unset ? hearth::rt::ProcBind::spread : bind);
  hearth::rt::parallel(self, region);
}

// --- gcc

HEARTH_EXPORT void GOMP_teams_reg(void (*function)(void*), void* data, unsigned teams, unsigned thread_limit,
                                  unsigned) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const Icvs icvs = *self->task->icvs;
  InitialTask how;
  how.icvs = &icvs;
  how.thread_limit = thread_limit != 0 ? clamped(thread_limit) : icvs.teams_thread_limit;
  how.num_teams = teams != 0 ? clamped(teams) : icvs.nteams > 0 ? icvs.nteams : 1;
  const hearth::rt::events::League told(self, how.num_teams, ompt_parallel_invoker_program);
  how.league = &told;
  for (how.team_num = 0; how.team_num < how.num_teams; ++how.team_num)
    hearth::rt::run_initial_task(self, how, function, data);
}

namespace {

void set_league(Thread* self, std::int32_t teams, std::int32_t number) {
  self->team->num_teams = teams;
  self->team->team_num = number;
}

}  // namespace

/// A teams construct in a target region: called before each turn, until it says that all teams have had
/// theirs.
HEARTH_EXPORT bool GOMP_teams4(unsigned least, unsigned, unsigned thread_limit, bool first) {
  Thread* self = Thread::current();
  if (first) {
    if (thread_limit != 0) hearth::rt::own_icvs(self).thread_limit = clamped(thread_limit);
    set_league(self, least == 0 ? 1 : clamped(least), 0);
    return true;
  }
  if (self->team->team_num + 1 >= self->team->num_teams) {
    set_league(self, 1, 0);
    return false;
  }
  set_league(self, self->team->num_teams, self->team->team_num + 1);
  return true;
}

/// The form before GCC 12, which asked for one team.
HEARTH_EXPORT void GOMP_teams(unsigned, unsigned thread_limit) {
  Thread* self = Thread::current();
  if (thread_limit != 0) hearth::rt::own_icvs(self).thread_limit = clamped(thread_limit);
  set_league(self, 1, 0);
}
