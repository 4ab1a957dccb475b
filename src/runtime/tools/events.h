// The events facade: what happens in the life of threads, regions, tasks and locks, told to an OMPT tool if
// there is one.
//
// One load of `active` stands before everything, so a program without a tool pays that load. Called by the
// thread to which it happens. Entry points of the skins open an Entry, which keeps the return address into
// the program and the frame of the encountering task while the runtime works for it (OpenMP 5.2, chapter 19;
// frames: section 19.4.4.28). events.cpp holds the calls to the tool, ompt.cpp its start and the functions
// that it may look up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hearth/omp-tools.h"
#include "hearth/ompt.h"

#include "runtime/state/thread.h"

namespace hearth::rt {
struct Region;
struct Dependence;
}  // namespace hearth::rt

namespace hearth::rt::events {

/// Who is told: bits, written once, before the program's first region. Whoever explains (explain.h) wants to see what
/// happens without him; all others are told of each task, and are given what they would miss otherwise.
enum Told : std::uint8_t { kToldTool = 1, kToldExplain = 2 };
extern std::uint8_t active_word;
inline bool active() { return HEARTH_UNLIKELY(active_word != 0); }
inline bool tells_each_task() { return HEARTH_UNLIKELY((active_word & kToldTool) != 0); }

/// Hearth's own callbacks (hearth/ompt.h). Written by the tool's initializer.
extern hearth_ompt_callback_footprint_t footprint_callback;
extern hearth_ompt_callback_return_t return_callback;
/// A tool reads footprints, also where nobody deals by them.
inline bool wants_footprints() { return HEARTH_UNLIKELY(footprint_callback != nullptr); }

/// Set by the tool's initializer; threads that move pages may call it until the tool ends.
extern std::atomic<hearth_ompt_callback_moved_t> moved_callback;
/// Threads were bound elsewhere, by the calling thread.
void threads_moved(hearth_ompt_cause_t why, std::uint64_t count);
/// From now on the tool hears of threads and pages that move; null: no more.
void tell_moves_to(hearth_ompt_callback_moved_t callback);

/// An entry point's stay in the runtime. The outermost one counts. If it leaves another task running than it
/// found (an undeferred task whose body the program calls itself), the task that it found stays in the
/// runtime.
class Entry {
 public:
  Entry(Thread* self, void* return_address, void* frame) {
    if (active()) enter(self, return_address, frame);
  }
  ~Entry() {
    if (HEARTH_UNLIKELY(self_ != nullptr)) leave();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  void enter(Thread* self, void* return_address, void* frame);
  void leave();
  Thread* self_ = nullptr;  // null: nothing to do at the end
};
#define HEARTH_ENTRY(self) \
  ::hearth::rt::events::Entry ompt_entry(self, __builtin_return_address(0), __builtin_frame_address(0))

/// A teams construct that runs here, with the id by which the tool knows its league.
class League {
 public:
  League(Thread* self, int teams, ompt_parallel_flag_t invoker) : invoker_(invoker) {
    if (active()) begin(self, teams);
  }
  ~League() {
    if (HEARTH_UNLIKELY(self_ != nullptr)) end();
  }
  League(const League&) = delete;
  League& operator=(const League&) = delete;
  std::uint64_t parallel_data() const { return data_; }

 private:
  void begin(Thread* self, int teams);
  void end();
  Thread* self_ = nullptr;
  ompt_parallel_flag_t invoker_;
  void* codeptr_ = nullptr;
  std::uint64_t data_ = 0;
};

// Told to the tool; each is called behind `if (active())`. What happens to each task is compiled for speed all the same:
// recordings shall not change what they record.
[[gnu::cold]] void thread_begin(Thread* self, ompt_thread_t type);
[[gnu::cold]] void thread_end(Thread* self);
/// `index` is the team's number in a league of `teams`, whose data `parallel_data` starts with; 1 and 1
/// elsewhere.
[[gnu::cold]] void initial_task_begin(Thread* self, int teams = 1, int index = 1,
                                      std::uint64_t parallel_data = 0);
[[gnu::cold]] void initial_task_end(Thread* self, int index = 1);
/// Before the team exists: the id and codeptr are kept in `team` by region_published().
[[gnu::cold]] void parallel_begin(Thread* self, const Region& region, int requested);
[[gnu::cold]] void region_published(Thread* self, Team* team, const Region& region);
[[gnu::cold]] void parallel_end(Thread* self, Team* team);
/// False: the tool is not told, because the thread serves a league, where initial tasks run.
[[gnu::cold]] bool implicit_task_begin(Thread* self);
[[gnu::cold]] void implicit_task_end(Thread* self);
/// The exit frame of the task that is about to call the program's code.
[[gnu::cold]] void enter_user_code(Task* task, void* frame);
/// Start of the implicit barrier that ends a region; worker and primary thread.
[[gnu::cold]] void join_begin(Thread* self);
[[gnu::cold]] void join_end(Thread* self);

[[gnu::cold]] void sync_begin(Thread* self, ompt_sync_region_t kind, bool wait = true);
[[gnu::cold]] void sync_end(Thread* self, ompt_sync_region_t kind, bool wait = true);
/// The waiting part of a region whose begin and end are told apart from it.
[[gnu::cold]] void sync_wait(Thread* self, ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint);
/// Which barrier construct the next barrier() of this thread is.
void set_barrier_kind(Thread* self, ompt_sync_region_t kind);
[[gnu::cold]] void barrier_begin(Thread* self);
[[gnu::cold]] void barrier_end(Thread* self);
[[gnu::cold]] void reduction_begin(Thread* self);
[[gnu::cold]] void reduction_end(Thread* self);

void task_create(Thread* self, Task* task, int type_flags, bool has_dependences);
void task_begin(Thread* self, Task* prior, Task* next, void* frame);
/// The same for a task whose body the program calls, once it has left the entry point.
[[gnu::cold]] void undeferred_begin(Thread* self, Task* prior, Task* next);
void task_end(Thread* self, Task* task, Task* next, ompt_task_status_t status);
/// How a tool sees a task whose body has ended: complete, or detached as long as its event is not fulfilled.
ompt_task_status_t status_after_body(const Task* task);
void task_schedule(Thread* self, Task* prior, ompt_task_status_t status, Task* next);
[[gnu::cold]] void task_dependences(Thread* self, Task* task, const Dependence* list, std::size_t count);
/// The task, which was told of and cannot have begun, has a footprint.
[[gnu::cold]] void footprint(Task* task);
[[gnu::cold]] void task_dependence(Thread* self, Task* source, Task* sink);
/// Waiting for dependences, which tools see as an empty task: `stand_in`, of which nothing else is used.
[[gnu::cold]] void taskwait_begin(Thread* self, Task* stand_in, const Dependence* list, std::size_t count);
[[gnu::cold]] void taskwait_end(Thread* self, Task* stand_in);
/// An iteration of a doacross loop that the current one has waited for, or that is about to be posted.
[[gnu::cold]] void doacross(Thread* self, ompt_dependence_type_t type, const std::uint64_t* point,
                            std::size_t dims);

[[gnu::cold]] void work_begin(Thread* self, ompt_work_t kind, std::uint64_t count);
[[gnu::cold]] void work_end(Thread* self, ompt_work_t kind, std::uint64_t count);
[[gnu::cold]] void dispatch(Thread* self, ompt_dispatch_t kind, ompt_data_t instance);
/// The new task, not yet queued, is a taskloop's and runs these iterations.
[[gnu::cold]] void set_taskloop_chunk(Task* task, std::uint64_t start, std::uint64_t iterations);
/// The task, which is one of a taskloop's, is about to run its body.
[[gnu::cold]] void taskloop_chunk(Thread* self, Task* task);
[[gnu::cold]] void masked(Thread* self, ompt_scope_endpoint_t endpoint);
[[gnu::cold]] void cancel(Thread* self, int flags);
/// A task that was cancelled before it started.
[[gnu::cold]] void cancel_discarded(Thread* self, Task* task);
[[gnu::cold]] void flush(Thread* self);
[[gnu::cold]] void runtime_error(Thread* self, bool is_fatal, const char* message);

[[gnu::cold]] void mutex_acquire(Thread* self, ompt_mutex_t kind, unsigned hint, const void* lock);
[[gnu::cold]] void mutex_acquired(Thread* self, ompt_mutex_t kind, const void* lock);
[[gnu::cold]] void mutex_released(Thread* self, ompt_mutex_t kind, const void* lock);
[[gnu::cold]] void lock_init(Thread* self, ompt_mutex_t kind, unsigned hint, const void* lock);
[[gnu::cold]] void lock_destroy(Thread* self, ompt_mutex_t kind, const void* lock);
[[gnu::cold]] void nest_lock(Thread* self, ompt_scope_endpoint_t endpoint, const void* lock);

/// Look for a tool (OMP_TOOL, ompt_start_tool, OMP_TOOL_LIBRARIES) and start it. From initialize(). True: there is
/// one, and from now on the caller sets `active_word`. Until then it hears of nothing, as the runtime may be
/// called from its initializer.
bool start_tool();
/// End of the process, or ompt_finalize_tool.
void finish_tool();
/// The program's thread asks for the end of the tool, or the process ends: the workers' last events, then
/// finish_tool().
void close_tool();
/// omp_control_tool.
int control_tool(Thread* self, int command, int modifier, void* arg);

}  // namespace hearth::rt::events
