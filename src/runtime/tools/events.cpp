#include "runtime/tools/events.h"

#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "memory/migrate.h"
#include "runtime/tools/decisions.h"
#include "runtime/state/dependence.h"
#include "runtime/state/footprint_ranges.h"
#include "runtime/state/region.h"
#include "runtime/tools/ompt_callbacks.h"

namespace hearth::rt::events {

constinit std::uint8_t active_word = 0;
constinit std::atomic<ompt_callback_t> callbacks[kCallbacks] = {};
constinit hearth_ompt_callback_footprint_t footprint_callback = nullptr;
constinit hearth_ompt_callback_return_t return_callback = nullptr;
constinit std::atomic<hearth_ompt_callback_moved_t> moved_callback{nullptr};

// Calls the tool's callback of that name, if it has set one.
#define HEARTH_TELL(name, ...)                                    \
  do {                                                            \
    if (auto* told = callback<name##_t>(name)) told(__VA_ARGS__); \
  } while (0)
#define HEARTH_TELL_AS(name, type, ...)                       \
  do {                                                        \
    if (auto* told = callback<type>(name)) told(__VA_ARGS__); \
  } while (0)

namespace {

ompt_data_t* data(std::uint64_t& word) { return reinterpret_cast<ompt_data_t*>(&word); }
ompt_data_t* parallel_data(Thread* self) { return data(self->team->ompt_parallel_data); }
ompt_data_t* task_data(Thread* self) { return data(self->task->ompt_task_data); }
ompt_wait_id_t wait_id(const void* lock) { return reinterpret_cast<ompt_wait_id_t>(lock); }

ompt_frame_t* frame_of(Task* task) { return reinterpret_cast<ompt_frame_t*>(&task->ompt_exit_frame); }
static_assert(offsetof(ompt_frame_t, enter_frame) == sizeof(void*) && sizeof(ompt_frame_t) == 24);
static_assert(offsetof(Task, ompt_enter_frame) == offsetof(Task, ompt_exit_frame) + 8 &&
              offsetof(Task, ompt_exit_flags) == offsetof(Task, ompt_exit_frame) + 16 &&
              offsetof(Task, ompt_enter_flags) == offsetof(Task, ompt_exit_frame) + 20);
static_assert(sizeof(ompt_data_t) == sizeof(std::uint64_t));

constexpr int kRuntimeFrame = ompt_frame_runtime | ompt_frame_framepointer;

void clear_ompt(Task* task) {
  task->ompt_task_data = 0;
  task->ompt_exit_frame = task->ompt_enter_frame = nullptr;
  task->ompt_exit_flags = kRuntimeFrame;
  task->ompt_enter_flags = kRuntimeFrame;
}

// In a region whose threads serve a league. Only the primary thread asks at the end of the region: a worker,
// which may get there after the team's next region has begun, remembers what it told (fork.cpp).
bool quiet_primary(Thread* self) { return self->tid == 0 && self->team->ompt_of_league; }

int state_of_sync(ompt_sync_region_t kind) {
  switch (kind) {
    case ompt_sync_region_barrier_explicit: return ompt_state_wait_barrier_explicit;
    case ompt_sync_region_barrier_implicit_parallel: return ompt_state_wait_barrier_implicit_parallel;
    case ompt_sync_region_barrier_implicit_workshare: return ompt_state_wait_barrier_implicit_workshare;
    case ompt_sync_region_barrier_teams: return ompt_state_wait_barrier_teams;
    case ompt_sync_region_barrier_implicit: return ompt_state_wait_barrier_implicit;
    case ompt_sync_region_barrier_implementation: return ompt_state_wait_barrier_implementation;
    case ompt_sync_region_taskwait: return ompt_state_wait_taskwait;
    case ompt_sync_region_taskgroup: return ompt_state_wait_taskgroup;
    default: return ompt_state_wait_barrier;
  }
}

int state_of_work(Thread* self) {
  return self->team->level > 0 ? ompt_state_work_parallel : ompt_state_work_serial;
}

ompt_dependence_type_t type_of(const Dependence& dependence) {
  if (dependence.all_memory) return ompt_dependence_type_out_all_memory;
  switch (dependence.kind) {
    case DependKind::in: return ompt_dependence_type_in;
    case DependKind::out: return ompt_dependence_type_inout;
    case DependKind::mutexinoutset: return ompt_dependence_type_mutexinoutset;
    case DependKind::inoutset: return ompt_dependence_type_inoutset;
  }
  return ompt_dependence_type_inout;
}

// What ompt_callback_dependences is given.
class DependenceList {
 public:
  explicit DependenceList(std::size_t count) : count_(count) {
    if (count <= sizeof few_ / sizeof few_[0]) return;
    list_ = static_cast<ompt_dependence_t*>(std::malloc(count * sizeof(ompt_dependence_t)));
    if (list_ == nullptr) fatal("out of memory: no room to tell a tool of %zu dependences", count);
  }
  ~DependenceList() {
    if (list_ != few_) std::free(list_);
  }
  DependenceList(const DependenceList&) = delete;
  DependenceList& operator=(const DependenceList&) = delete;

  ompt_dependence_t& operator[](std::size_t i) { return list_[i]; }
  void tell(Task* task) {
    HEARTH_TELL(ompt_callback_dependences, data(task->ompt_task_data), list_, static_cast<int>(count_));
  }

 private:
  std::size_t count_;
  ompt_dependence_t few_[16];
  ompt_dependence_t* list_ = few_;
};

}  // namespace

void Entry::enter(Thread* self, void* return_address, void* frame) {
  if (self->ompt_codeptr != nullptr) return;  // called by another entry point
  self_ = self;
  self->ompt_codeptr = return_address;
  self->task->ompt_enter_frame = frame;
}

void Entry::leave() {
  if (return_callback != nullptr) return_callback();
  self_->ompt_codeptr = nullptr;
  self_->task->ompt_enter_frame = nullptr;
}

void thread_begin(Thread* self, ompt_thread_t type) {
  self->ompt_thread_data = 0;
  self->ompt_state = type == ompt_thread_worker ? ompt_state_overhead : ompt_state_work_serial;
  HEARTH_TELL(ompt_callback_thread_begin, type, data(self->ompt_thread_data));
  if (type == ompt_thread_worker) self->ompt_state = ompt_state_idle;
}

void thread_end(Thread* self) { HEARTH_TELL(ompt_callback_thread_end, data(self->ompt_thread_data)); }

void initial_task_begin(Thread* self, int teams, int index, std::uint64_t parallel_data_of_league) {
  self->team->ompt_parallel_data = parallel_data_of_league;
  clear_ompt(self->task);
  if (decisions::on) decisions::number_implicit(self);
  self->ompt_codeptr = nullptr;
  self->ompt_state = ompt_state_work_serial;
  HEARTH_TELL(ompt_callback_implicit_task, ompt_scope_begin, parallel_data(self), task_data(self),
              static_cast<unsigned>(teams), static_cast<unsigned>(index), ompt_task_initial);
}

void initial_task_end(Thread* self, int index) {
  HEARTH_TELL(ompt_callback_implicit_task, ompt_scope_end, nullptr, task_data(self), 0,
              static_cast<unsigned>(index), ompt_task_initial);
}

void League::begin(Thread* self, int teams) {
  self_ = self;
  codeptr_ = self->ompt_codeptr;
  HEARTH_TELL(ompt_callback_parallel_begin, task_data(self), frame_of(self->task), data(data_),
              static_cast<unsigned>(teams), invoker_ | ompt_parallel_league, codeptr_);
}

void League::end() {
  self_->ompt_state = state_of_work(self_);
  HEARTH_TELL(ompt_callback_parallel_end, data(data_), task_data(self_), invoker_ | ompt_parallel_league,
              codeptr_);
}

void parallel_begin(Thread* self, const Region& region, int requested) {
  self->ompt_next_parallel = 0;
  // Both compilers' outlined functions are called by us, whatever unwinding shows.
  const int invoker = region.is_kmp ? ompt_parallel_invoker_runtime : ompt_parallel_invoker_program;
  HEARTH_TELL(ompt_callback_parallel_begin, task_data(self), frame_of(self->task),
              data(self->ompt_next_parallel), static_cast<unsigned>(requested), invoker | ompt_parallel_team,
              self->ompt_codeptr);
}

void region_published(Thread* self, Team* team, const Region& region) {
  team->ompt_of_league = region.is_league;
  team->ompt_parallel_data = self->ompt_next_parallel;
  team->codeptr = self->ompt_codeptr;
  self->ompt_codeptr = nullptr;
}

void parallel_end(Thread* self, Team* team) {
  // Back in the entry point, whose Entry ends now or at GOMP_parallel_end.
  self->ompt_codeptr = team->codeptr;
  self->ompt_state = state_of_work(self);
  if (team->ompt_of_league) return;
  HEARTH_TELL(ompt_callback_parallel_end, data(team->ompt_parallel_data), task_data(self),
              (team->fork.is_kmp ? ompt_parallel_invoker_runtime : ompt_parallel_invoker_program) |
                  ompt_parallel_team,
              team->codeptr);
}

bool implicit_task_begin(Thread* self) {
  clear_ompt(self->task);
  if (decisions::on) decisions::number_implicit(self);
  self->ompt_codeptr = nullptr;
  if (self->team->ompt_of_league) return false;
  self->ompt_state = state_of_work(self);
  HEARTH_TELL(ompt_callback_implicit_task, ompt_scope_begin, parallel_data(self), task_data(self),
              static_cast<unsigned>(static_cast<int>(self->team->size)), static_cast<unsigned>(self->tid),
              ompt_task_implicit);
  return true;
}

void implicit_task_end(Thread* self) {
  if (quiet_primary(self)) return;
  HEARTH_TELL(ompt_callback_implicit_task, ompt_scope_end, nullptr, task_data(self), 0,
              static_cast<unsigned>(self->tid), ompt_task_implicit);
}

void enter_user_code(Task* task, void* frame) {
  task->ompt_exit_frame = frame;
  task->ompt_exit_flags = kRuntimeFrame;
}

void join_begin(Thread* self) {
  if (quiet_primary(self)) return;
  self->task->ompt_exit_frame = nullptr;
  self->ompt_state = ompt_state_wait_barrier_implicit_parallel;
  const void* codeptr = self->tid == 0 ? self->team->codeptr : nullptr;
  HEARTH_TELL_AS(ompt_callback_sync_region, ompt_callback_sync_region_t,
                 ompt_sync_region_barrier_implicit_parallel, ompt_scope_begin, parallel_data(self),
                 task_data(self), codeptr);
  HEARTH_TELL_AS(ompt_callback_sync_region_wait, ompt_callback_sync_region_t,
                 ompt_sync_region_barrier_implicit_parallel, ompt_scope_begin, parallel_data(self),
                 task_data(self), codeptr);
}

void join_end(Thread* self) {
  if (quiet_primary(self)) return;
  const void* codeptr = self->tid == 0 ? self->team->codeptr : nullptr;
  HEARTH_TELL_AS(ompt_callback_sync_region_wait, ompt_callback_sync_region_t,
                 ompt_sync_region_barrier_implicit_parallel, ompt_scope_end, nullptr, task_data(self),
                 codeptr);
  HEARTH_TELL_AS(ompt_callback_sync_region, ompt_callback_sync_region_t,
                 ompt_sync_region_barrier_implicit_parallel, ompt_scope_end, nullptr, task_data(self),
                 codeptr);
  self->ompt_state = self->tid == 0 ? ompt_state_overhead : ompt_state_idle;
}

void sync_begin(Thread* self, ompt_sync_region_t kind, bool wait) {
  const void* codeptr = self->ompt_codeptr;
  self->ompt_state = state_of_sync(kind);
  HEARTH_TELL_AS(ompt_callback_sync_region, ompt_callback_sync_region_t, kind, ompt_scope_begin,
                 parallel_data(self), task_data(self), codeptr);
  if (wait)
    HEARTH_TELL_AS(ompt_callback_sync_region_wait, ompt_callback_sync_region_t, kind, ompt_scope_begin,
                   parallel_data(self), task_data(self), codeptr);
}

void sync_end(Thread* self, ompt_sync_region_t kind, bool wait) {
  const void* codeptr = self->ompt_codeptr;
  if (wait)
    HEARTH_TELL_AS(ompt_callback_sync_region_wait, ompt_callback_sync_region_t, kind, ompt_scope_end,
                   parallel_data(self), task_data(self), codeptr);
  HEARTH_TELL_AS(ompt_callback_sync_region, ompt_callback_sync_region_t, kind, ompt_scope_end,
                 parallel_data(self), task_data(self), codeptr);
  self->ompt_state = state_of_work(self);
}

void sync_wait(Thread* self, ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint) {
  self->ompt_state = endpoint == ompt_scope_begin ? state_of_sync(kind) : state_of_work(self);
  HEARTH_TELL_AS(ompt_callback_sync_region_wait, ompt_callback_sync_region_t, kind, endpoint,
                 parallel_data(self), task_data(self), self->ompt_codeptr);
}

void set_barrier_kind(Thread* self, ompt_sync_region_t kind) { self->ompt_barrier_kind = kind; }

void barrier_begin(Thread* self) {
  sync_begin(self, static_cast<ompt_sync_region_t>(self->ompt_barrier_kind));
}

void barrier_end(Thread* self) {
  sync_end(self, static_cast<ompt_sync_region_t>(self->ompt_barrier_kind));
  self->ompt_barrier_kind = ompt_sync_region_barrier_explicit;
}

void reduction_begin(Thread* self) {
  HEARTH_TELL_AS(ompt_callback_reduction, ompt_callback_sync_region_t, ompt_sync_region_reduction,
                 ompt_scope_begin, parallel_data(self), task_data(self), self->ompt_codeptr);
}

void reduction_end(Thread* self) {
  HEARTH_TELL_AS(ompt_callback_reduction, ompt_callback_sync_region_t, ompt_sync_region_reduction,
                 ompt_scope_end, parallel_data(self), task_data(self), self->ompt_codeptr);
}

void task_create(Thread* self, Task* task, int type_flags, bool has_dependences) {
  clear_ompt(task);
  task->ompt_flags = static_cast<std::uint32_t>(type_flags);
  HEARTH_TELL(ompt_callback_task_create, task_data(self), frame_of(self->task), data(task->ompt_task_data),
              type_flags, has_dependences, self->ompt_codeptr);
}

void task_schedule(Thread*, Task* prior, ompt_task_status_t status, Task* next) {
  HEARTH_TELL(ompt_callback_task_schedule, data(prior->ompt_task_data), status,
              next == nullptr ? nullptr : data(next->ompt_task_data));
}

void task_begin(Thread* self, Task* prior, Task* next, void* frame) {
  task_schedule(self, prior, self->ompt_yields ? ompt_task_yield : ompt_task_switch, next);
  self->ompt_yields = false;
  next->ompt_outer = prior;
  next->ompt_exit_frame = frame;
  next->ompt_exit_flags = kRuntimeFrame;
  self->ompt_codeptr = nullptr;
  self->ompt_state = state_of_work(self);
}

void undeferred_begin(Thread* self, Task* prior, Task* next) {
  // The frame of the entry point keeps that of its caller, which goes on with the body, unless the program is
  // built without frame pointers: then the word is anything. Behind it and the return address lies the
  // caller's stack.
  auto* const entry = static_cast<void**>(prior->ompt_enter_frame);
  void* const caller = entry[0];
  void* const outermost = prior->ompt_exit_frame;
  const bool is_frame = caller > entry && (outermost == nullptr || caller <= outermost);
  task_begin(self, prior, next, is_frame ? caller : entry + 2);
  next->ompt_exit_flags =
      ompt_frame_application | (is_frame ? ompt_frame_framepointer : ompt_frame_stackaddress);
}

void task_end(Thread* self, Task* task, Task* next, ompt_task_status_t status) {
  task->ompt_exit_frame = nullptr;
  if (task->is(kTaskSawCancel) && status == ompt_task_complete) status = ompt_task_cancel;
  task_schedule(self, task, status, next);
}

void task_dependences(Thread*, Task* task, const Dependence* list, std::size_t count) {
  if (count == 0 || callback<ompt_callback_dependences_t>(ompt_callback_dependences) == nullptr) return;
  DependenceList told(count);
  for (std::size_t i = 0; i < count; ++i) {
    told[i].variable.ptr = const_cast<void*>(list[i].address);
    told[i].dependence_type = type_of(list[i]);
  }
  told.tell(task);
}

ompt_task_status_t status_after_body(const Task* task) {
  const bool detached = task->is(kTaskDetachable | kTaskProxy) &&
                        task->detach_state.load(std::memory_order_relaxed) == kDetachRunning;  // for the tool alone
  return detached ? ompt_task_detach : ompt_task_complete;
}

void footprint(Task* task) {
  if (footprint_callback == nullptr) return;
  const Footprint& all = *task->footprint;
  constexpr std::size_t kAtOnce = 16;
  hearth_ompt_range_t few[kAtOnce];
  hearth_ompt_range_t* list = few;
  if (all.count > kAtOnce) {
    list = static_cast<hearth_ompt_range_t*>(std::malloc(all.count * sizeof(hearth_ompt_range_t)));
    if (list == nullptr)
      fatal("out of memory: no room to tell a tool of a footprint of %u ranges", all.count);
  }
  for (std::uint32_t i = 0; i < all.count; ++i) {
    const FootprintRange& range = all.ranges[i];
    list[i] = {reinterpret_cast<const void*>(range.begin),
               range.length,
               range.rows,
               range.pitch,
               static_cast<int>(range.access),
               range.inferred,
               range.decides,
               all.stated};
  }
  footprint_callback(data(task->ompt_task_data), list, all.count);
  if (list != few) std::free(list);
}

// Relaxed: the initializer's writes come before the first thread, and a tool that ends may still hear of the last moves.
void threads_moved(hearth_ompt_cause_t why, std::uint64_t count) {
  if (count == 0) return;
  if (const auto tell = moved_callback.load(std::memory_order_relaxed)) tell(hearth_ompt_threads, why, count, -1, nullptr);
}

void tell_moves_to(hearth_ompt_callback_moved_t callback) {
  moved_callback.store(callback, std::memory_order_relaxed);
  const memory::MoveObserver observer = [](const memory::MoveNote& note) {
    constexpr hearth_ompt_cause_t kCauses[] = {hearth_ompt_call, hearth_ompt_hint, hearth_ompt_balance, hearth_ompt_touch,
                                               hearth_ompt_trap};
    if (const auto tell = moved_callback.load(std::memory_order_relaxed))
      tell(hearth_ompt_pages, kCauses[static_cast<int>(note.cause)], note.pages, note.to,
           reinterpret_cast<const void*>(note.begin));
  };
  memory::set_move_observer(callback == nullptr ? nullptr : observer);
}

void task_dependence(Thread*, Task* source, Task* sink) {
  HEARTH_TELL(ompt_callback_task_dependence, data(source->ompt_task_data), data(sink->ompt_task_data));
}

void taskwait_begin(Thread* self, Task* stand_in, const Dependence* list, std::size_t count) {
  task_create(self, stand_in, ompt_task_taskwait | ompt_task_undeferred | ompt_task_mergeable, true);
  task_dependences(self, stand_in, list, count);
}

void taskwait_end(Thread* self, Task* stand_in) {
  task_schedule(self, stand_in, ompt_taskwait_complete, nullptr);
}

void doacross(Thread* self, ompt_dependence_type_t type, const std::uint64_t* point, std::size_t dims) {
  DependenceList told(dims);
  for (std::size_t d = 0; d < dims; ++d) {
    told[d].variable.value = point[d];
    told[d].dependence_type = type;
  }
  told.tell(self->task);
}

void work_begin(Thread* self, ompt_work_t kind, std::uint64_t count) {
  HEARTH_TELL(ompt_callback_work, kind, ompt_scope_begin, parallel_data(self), task_data(self), count,
              self->ompt_codeptr);
}

void work_end(Thread* self, ompt_work_t kind, std::uint64_t count) {
  HEARTH_TELL(ompt_callback_work, kind, ompt_scope_end, parallel_data(self), task_data(self), count,
              self->ompt_codeptr);
}

void dispatch(Thread* self, ompt_dispatch_t kind, ompt_data_t instance) {
  HEARTH_TELL(ompt_callback_dispatch, parallel_data(self), task_data(self), kind, instance);
}

void set_taskloop_chunk(Task* task, std::uint64_t start, std::uint64_t iterations) {
  task->flags |= kTaskChunk;
  task->ompt_chunk_start = start;
  task->ompt_chunk_iterations = iterations;
}

void taskloop_chunk(Thread* self, Task* task) {
  ompt_dispatch_chunk_t chunk{task->ompt_chunk_start, task->ompt_chunk_iterations};
  ompt_data_t instance;
  instance.ptr = &chunk;
  dispatch(self, ompt_dispatch_taskloop_chunk, instance);
}

void masked(Thread* self, ompt_scope_endpoint_t endpoint) {
  HEARTH_TELL(ompt_callback_masked, endpoint, parallel_data(self), task_data(self), self->ompt_codeptr);
}

void cancel(Thread* self, int flags) {
  if ((flags & ompt_cancel_taskgroup) != 0) self->task->flags |= kTaskSawCancel;
  HEARTH_TELL(ompt_callback_cancel, task_data(self), flags, self->ompt_codeptr);
}

void cancel_discarded(Thread*, Task* task) {
  HEARTH_TELL(ompt_callback_cancel, data(task->ompt_task_data),
              ompt_cancel_taskgroup | ompt_cancel_discarded_task, nullptr);
}

void flush(Thread* self) {
  HEARTH_TELL(ompt_callback_flush, data(self->ompt_thread_data), self->ompt_codeptr);
}

void runtime_error(Thread* self, bool is_fatal, const char* message) {
  HEARTH_TELL(ompt_callback_error, is_fatal ? ompt_fatal : ompt_warning, message, std::strlen(message),
              self->ompt_codeptr);
}

void mutex_acquire(Thread* self, ompt_mutex_t kind, unsigned hint, const void* lock) {
  self->ompt_wait_id = wait_id(lock);
  HEARTH_TELL(ompt_callback_mutex_acquire, kind, hint, kmp_mutex_impl_spin, wait_id(lock),
              self->ompt_codeptr);
  self->ompt_state = kind == ompt_mutex_critical  ? ompt_state_wait_critical
                     : kind == ompt_mutex_ordered ? ompt_state_wait_ordered
                     : kind == ompt_mutex_atomic  ? ompt_state_wait_atomic
                                                  : ompt_state_wait_lock;
}

void mutex_acquired(Thread* self, ompt_mutex_t kind, const void* lock) {
  self->ompt_state = state_of_work(self);
  self->ompt_wait_id = 0;
  HEARTH_TELL_AS(ompt_callback_mutex_acquired, ompt_callback_mutex_t, kind, wait_id(lock),
                 self->ompt_codeptr);
}

void mutex_released(Thread* self, ompt_mutex_t kind, const void* lock) {
  HEARTH_TELL_AS(ompt_callback_mutex_released, ompt_callback_mutex_t, kind, wait_id(lock),
                 self->ompt_codeptr);
}

void lock_init(Thread* self, ompt_mutex_t kind, unsigned hint, const void* lock) {
  HEARTH_TELL_AS(ompt_callback_lock_init, ompt_callback_mutex_acquire_t, kind, hint, kmp_mutex_impl_spin,
                 wait_id(lock), self->ompt_codeptr);
}

void lock_destroy(Thread* self, ompt_mutex_t kind, const void* lock) {
  HEARTH_TELL_AS(ompt_callback_lock_destroy, ompt_callback_mutex_t, kind, wait_id(lock), self->ompt_codeptr);
}

void nest_lock(Thread* self, ompt_scope_endpoint_t endpoint, const void* lock) {
  HEARTH_TELL(ompt_callback_nest_lock, endpoint, wait_id(lock), self->ompt_codeptr);
}

}  // namespace hearth::rt::events
