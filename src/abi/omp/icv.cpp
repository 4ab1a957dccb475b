// omp_* calls that read and write internal control variables.
//
// Any thread. A get reads the block of the calling task; a set writes the task's own block (own_icvs() makes
// one first, if the task shares its parent's). What the environment alone decides (cancellation, the highest
// priority) is constant.
#include <climits>
#include <cstdint>

#include "abi/export.h"
#include "abi/fortran.h"
#include "base/log.h"
#include "runtime/process/startup.h"
#include "runtime/settings/settings.h"
#include "runtime/state/own_icvs.h"
#include "runtime/state/process.h"
#include "topology/allowance.h"

using hearth::abi::narrowed;
using hearth::rt::Icvs;
using hearth::rt::own_icvs;
using hearth::rt::process;
using hearth::rt::Thread;

namespace {

constexpr int kSupportedActiveLevels = INT_MAX;
constexpr std::uint32_t kMonotonic = 0x80000000u;  // omp_sched_monotonic

const Icvs& icvs() { return *Thread::current()->task->icvs; }
Icvs& writable_icvs() { return own_icvs(Thread::current()); }

// --- threads

// What is not positive is undefined in the specification; programs that compute a count get the least team.
void set_num_threads(int count) { writable_icvs().nthreads = count > 0 ? count : 1; }

int max_threads() {
  const Icvs& mine = icvs();
  return mine.nthreads < mine.thread_limit ? mine.nthreads : mine.thread_limit;
}

// The CPUs that this thread may use now, which a cpuset or taskset may have narrowed since the start. A
// thread that the runtime itself has bound to a place would tell the place: then what was there at the start
// counts.
int num_procs() {
  hearth::rt::initialize();
  if (Thread::current()->bound_place >= 0) return process.visible_cpus;
  const std::size_t now = hearth::topology::current_affinity().count();
  const auto at_start = static_cast<std::size_t>(process.visible_cpus);
  return static_cast<int>(now == 0 || now > at_start ? at_start : now);
}

void set_dynamic(bool on) { writable_icvs().dynamic = on; }

// --- nesting

void set_nested(bool on) {
  Icvs& mine = writable_icvs();
  if (!on)
    mine.max_active_levels = mine.max_active_levels > 1 ? 1 : mine.max_active_levels;
  else if (mine.max_active_levels <= 1)
    mine.max_active_levels = kSupportedActiveLevels;
}

bool nested() {
  const Thread* self = Thread::current();
  const std::int32_t most = self->task->icvs->max_active_levels;
  return most > 1 && most > self->team->active_level;
}

void set_max_active_levels(int levels) {
  if (levels < 0) {
    HEARTH_WARN_ONCE("omp_set_max_active_levels(%d): legal: 0 or more; ignored.", levels);
    return;
  }
  writable_icvs().max_active_levels = levels;
}

// --- schedule

bool is_schedule(int kind) { return (kind >= 1 && kind <= 4) || kind == 101; }

void set_schedule(int kind, int chunk) {
  const auto modifier = static_cast<std::uint32_t>(kind) & kMonotonic;
  const auto plain = static_cast<int>(static_cast<std::uint32_t>(kind) & ~kMonotonic);
  if (!is_schedule(plain)) {
    HEARTH_WARN_ONCE(
        "omp_set_schedule(%d, %d): unknown schedule; legal: omp_sched_static (1), dynamic (2), guided (3), auto (4), "
        "each with or without omp_sched_monotonic; ignored.",
        kind, chunk);
    return;
  }
  Icvs& mine = writable_icvs();
  mine.run_sched_kind = static_cast<std::int32_t>(static_cast<std::uint32_t>(plain) | modifier);
  // Below 1 the schedule's own default counts: equal parts for static, 1 for the others.
  mine.run_sched_chunk = chunk >= 1 && plain != 4 ? chunk : 0;
}

int schedule_chunk(const Icvs& mine) {
  const int plain = mine.run_sched_kind & INT_MAX;
  if (mine.run_sched_chunk == 0 && plain != 1) return 1;
  return mine.run_sched_chunk;
}

// --- leagues and devices

void set_num_teams(int count) {
  if (count >= 0) writable_icvs().nteams = count;
}
void set_teams_thread_limit(int limit) {
  if (limit >= 0) writable_icvs().teams_thread_limit = limit;
}
void set_default_device(int device) { writable_icvs().default_device = device; }

}  // namespace

HEARTH_EXPORT void omp_set_num_threads(int count) { set_num_threads(count); }
HEARTH_EXPORT void omp_set_num_threads_(const std::int32_t* count) { set_num_threads(*count); }
HEARTH_EXPORT void omp_set_num_threads_8_(const std::int64_t* count) { set_num_threads(narrowed(*count)); }
HEARTH_EXPORT void ompc_set_num_threads(int count) { set_num_threads(count); }
HEARTH_EXPORT int omp_get_max_threads() { return max_threads(); }
HEARTH_FORTRAN(int, omp_get_max_threads);
HEARTH_EXPORT int omp_get_num_procs() { return num_procs(); }
HEARTH_FORTRAN(int, omp_get_num_procs);
HEARTH_EXPORT int omp_get_thread_limit() { return icvs().thread_limit; }
HEARTH_FORTRAN(int, omp_get_thread_limit);

HEARTH_EXPORT void omp_set_dynamic(int on) { set_dynamic(on != 0); }
HEARTH_EXPORT void omp_set_dynamic_(const std::int32_t* on) { set_dynamic(*on != 0); }
HEARTH_EXPORT void omp_set_dynamic_8_(const std::int64_t* on) { set_dynamic(*on != 0); }
HEARTH_EXPORT void ompc_set_dynamic(int on) { set_dynamic(on != 0); }
HEARTH_EXPORT int omp_get_dynamic() { return icvs().dynamic; }
HEARTH_FORTRAN(int, omp_get_dynamic);

HEARTH_EXPORT void omp_set_nested(int on) { set_nested(on != 0); }
HEARTH_EXPORT void omp_set_nested_(const std::int32_t* on) { set_nested(*on != 0); }
HEARTH_EXPORT void omp_set_nested_8_(const std::int64_t* on) { set_nested(*on != 0); }
HEARTH_EXPORT void ompc_set_nested(int on) { set_nested(on != 0); }
HEARTH_EXPORT int omp_get_nested() { return nested(); }
HEARTH_FORTRAN(int, omp_get_nested);

HEARTH_EXPORT void omp_set_max_active_levels(int levels) { set_max_active_levels(levels); }
HEARTH_EXPORT void omp_set_max_active_levels_(const std::int32_t* levels) { set_max_active_levels(*levels); }
HEARTH_EXPORT void omp_set_max_active_levels_8_(const std::int64_t* levels) {
  set_max_active_levels(narrowed(*levels));
}
HEARTH_EXPORT void ompc_set_max_active_levels(int levels) { set_max_active_levels(levels); }
HEARTH_EXPORT int omp_get_max_active_levels() { return icvs().max_active_levels; }
HEARTH_FORTRAN(int, omp_get_max_active_levels);
HEARTH_EXPORT int omp_get_supported_active_levels() { return kSupportedActiveLevels; }
HEARTH_FORTRAN(int, omp_get_supported_active_levels);

HEARTH_EXPORT void omp_set_schedule(int kind, int chunk) { set_schedule(kind, chunk); }
HEARTH_EXPORT void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) {
  set_schedule(*kind, *chunk);
}
HEARTH_EXPORT void omp_set_schedule_8_(const std::int32_t* kind, const std::int64_t* chunk) {
  set_schedule(*kind, narrowed(*chunk));
}
HEARTH_EXPORT void ompc_set_schedule(int kind, int chunk) { set_schedule(kind, chunk); }
HEARTH_EXPORT void omp_get_schedule(int* kind, int* chunk) {
  const Icvs& mine = icvs();
  *kind = mine.run_sched_kind;
  *chunk = schedule_chunk(mine);
}
HEARTH_EXPORT void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) {
  const Icvs& mine = icvs();
  *kind = mine.run_sched_kind;
  *chunk = schedule_chunk(mine);
}
HEARTH_EXPORT void omp_get_schedule_8_(std::int32_t* kind, std::int64_t* chunk) {
  const Icvs& mine = icvs();
  *kind = mine.run_sched_kind;
  *chunk = schedule_chunk(mine);
}

HEARTH_EXPORT void omp_set_num_teams(int count) { set_num_teams(count); }
HEARTH_EXPORT void omp_set_num_teams_(const std::int32_t* count) { set_num_teams(*count); }
HEARTH_EXPORT void omp_set_num_teams_8_(const std::int64_t* count) { set_num_teams(narrowed(*count)); }
HEARTH_EXPORT int omp_get_max_teams() { return icvs().nteams; }
HEARTH_FORTRAN(int, omp_get_max_teams);
HEARTH_EXPORT void omp_set_teams_thread_limit(int limit) { set_teams_thread_limit(limit); }
HEARTH_EXPORT void omp_set_teams_thread_limit_(const std::int32_t* limit) { set_teams_thread_limit(*limit); }
HEARTH_EXPORT void omp_set_teams_thread_limit_8_(const std::int64_t* limit) {
  set_teams_thread_limit(narrowed(*limit));
}
HEARTH_EXPORT int omp_get_teams_thread_limit() { return icvs().teams_thread_limit; }
HEARTH_FORTRAN(int, omp_get_teams_thread_limit);

HEARTH_EXPORT void omp_set_default_device(int device) { set_default_device(device); }
HEARTH_EXPORT void omp_set_default_device_(const std::int32_t* device) { set_default_device(*device); }
HEARTH_EXPORT void omp_set_default_device_8_(const std::int64_t* device) { set_default_device(narrowed(*device)); }
HEARTH_EXPORT int omp_get_default_device() { return icvs().default_device; }
HEARTH_FORTRAN(int, omp_get_default_device);

HEARTH_EXPORT int omp_get_proc_bind() { return icvs().bind; }
HEARTH_FORTRAN(int, omp_get_proc_bind);

HEARTH_EXPORT int omp_get_cancellation() {
  hearth::rt::initialize();
  return hearth::rt::settings().cancellation;
}
HEARTH_FORTRAN(int, omp_get_cancellation);
HEARTH_EXPORT int omp_get_max_task_priority() {
  hearth::rt::initialize();
  return hearth::rt::settings().max_task_priority;
}
HEARTH_FORTRAN(int, omp_get_max_task_priority);
