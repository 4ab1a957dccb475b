#include "runtime/runtime.h"

#include <cstdlib>
#include <ctime>

#include <pthread.h>
#include <sched.h>

#include "base/log.h"
#include "policy/task_policy.h"
#include "runtime/pool.h"
#include "runtime/settings.h"
#include "runtime/tasking.h"
#include "runtime/team_memory.h"
#include "runtime/wait.h"
#include "topology/allowance.h"

namespace hearth::rt {

constinit Process process;
thread_local constinit Thread* tls_thread __attribute__((tls_model("initial-exec"))) = nullptr;

#ifdef HEARTH_COUNT_SHARED_WRITES
void count_shared_write(std::uint64_t n) {
  if (Thread* self = Thread::current_or_null()) self->shared_writes += n;
}
#endif

namespace {

constexpr std::int64_t kDefaultSpinNs =
    2'000'000;  // longer than any serial part worth bridging, shorter than a scheduler tick
constexpr std::int64_t kScarceSpinNs =
    3'000;  // when others need the core: about the cost of a futex round trip

pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t exit_key;

void release_root(Thread* self) {
  Team* root = self->root_team;
  if (root != nullptr) {
    disband(root);
    process.busy_threads.fetch_sub(1, std::memory_order_relaxed);
  }
  self->root_team = nullptr;
  self->team = nullptr;
  self->member = nullptr;
  self->task = nullptr;
  flush_away(self);
}

// Runs when a thread of the program ends.
void on_thread_exit(void* arg) {
  auto* self = static_cast<Thread*>(arg);
  if (tls_thread != self || self->team != self->root_team)
    return;  // ends inside a region: its team is still in use
  release_root(self);
  tls_thread = nullptr;
  retire_thread_object(self);
}

void before_fork() {}
void in_fork_parent() {}

// The child has the calling thread only. Locks may have been held by threads that are gone; teams have
// workers that are gone.
void in_fork_child() {
  forget_pool();
  Thread* self = tls_thread;
  process.busy_threads.store(self != nullptr ? 1 : 0, std::memory_order_relaxed);
  if (self == nullptr) return;
  if (!self->is_root || self->team != self->root_team) {
    // Forked inside a region: the child goes on as the only thread of it. The old teams cannot be freed while
    // their frames are on the stack, so they are left alone; a new region gets a new team.
    for (Team* team = self->team; team != nullptr; team = team->parent) {
      team->size = 1;
      team->flat = true;
      team->staffed = 1;
      team->events.reset_after_fork();
    }
    self->member->hot_child = self->member->serial_child = nullptr;
    return;
  }
  Member& member = self->root_team->primary();
  for (Team* child : {member.hot_child, member.serial_child})
    if (child != nullptr) {
      process.busy_threads.fetch_add(child->staffed - 1, std::memory_order_relaxed);
      abandon(child);
    }
  member.hot_child = member.serial_child = nullptr;
}

void read_settings() {
  init_settings();
  const Settings& s = settings();
  const topology::Allowance allowance =
      topology::read_allowance(topology::SystemRoot(), topology::current_affinity());
  process.visible_cpus = static_cast<std::int32_t>(allowance.cpus.count());
  process.cpus = static_cast<std::int32_t>(allowance.default_team_size());
  process.stack_size = s.stack_size;
  process.policy = policy::find_policy(s.policy == Policy::central ? "central" : "work-stealing");

  Icvs& icvs = process.initial_icvs;
  icvs.nthreads = s.num_threads_count > 0 ? s.num_threads[0] : process.cpus;
  if (s.num_threads_count == 0) icvs.nthreads_level = -1;
  icvs.thread_limit = s.thread_limit > 0 ? s.thread_limit : INT32_MAX;
  icvs.dynamic = s.dynamic;
  icvs.run_sched_kind = s.schedule.kind;
  if (s.schedule.modifier == ScheduleModifier::monotonic) icvs.run_sched_kind |= INT32_MIN;
  icvs.run_sched_chunk = s.schedule.chunk;
  icvs.default_device = s.default_device;
  icvs.nteams = s.num_teams;
  icvs.teams_thread_limit = s.teams_thread_limit;
  icvs.bind = s.proc_bind_count > 0 ? static_cast<std::int32_t>(s.proc_bind[0]) : 0;
  // OpenMP 5.2, 3.1.8: a list of several numbers or bindings implies nested parallelism.
  if (s.max_active_levels >= 0)
    icvs.max_active_levels = s.max_active_levels;
  else if (s.nested == 1 || (s.nested < 0 && (s.num_threads_count > 1 || s.proc_bind_count > 1)))
    icvs.max_active_levels = INT32_MAX;
  else
    icvs.max_active_levels = 1;

  const bool scarce = allowance.quota.limited();
  if (s.wait_policy == WaitPolicy::passive)
    process.spin_ns = 0;
  else if (s.wait_policy == WaitPolicy::active && !scarce)
    process.spin_ns = INT64_MAX;
  else
    process.spin_ns = scarce ? kScarceSpinNs : kDefaultSpinNs;
  if (s.blocktime_us >= 0) process.spin_ns = s.blocktime_us == INT64_MAX ? INT64_MAX : s.blocktime_us * 1000;
  if (s.spin_count >= 0)
    process.spin_ns = s.spin_count == INT64_MAX ? INT64_MAX : s.spin_count * 10;  // about 10 ns a turn
  if (const char* cutoff = std::getenv("HEARTH_TASK_CUTOFF")) process.task_cutoff = std::atoi(cutoff);
}

void initialize_once() {
  read_settings();
  pthread_key_create(&exit_key, on_thread_exit);
  pthread_atfork(before_fork, in_fork_parent, in_fork_child);
  process.initialized.store(true, std::memory_order_release);
}

[[gnu::destructor]] void at_exit() {
  if (!process.initialized.load(std::memory_order_acquire)) return;
  std::uint64_t served[2] = {0, 0};
  for_each_thread(
      [](Thread* thread, void* sums) {
        static_cast<std::uint64_t*>(sums)[0] += thread->regions_served;
        static_cast<std::uint64_t*>(sums)[1] += thread->tasks_served;
      },
      served);
  (void)served;
}

}  // namespace

void initialize() { pthread_once(&once, initialize_once); }

Thread* register_root_thread() {
  initialize();
  Thread* self = make_thread_object();
  if (self == nullptr) fatal("out of memory: a thread of the program cannot be registered");
  self->is_root = true;
  self->handle = pthread_self();
  tls_thread = self;
  Team* root = make_team(self, 1);
  root->own_icvs = process.initial_icvs;
  root->icvs = &root->own_icvs;
  self->root_team = root;
  self->team = root;
  self->member = root->members[0];
  self->tid = 0;
  begin_implicit_task(self, self->member);
  process.busy_threads.fetch_add(1, std::memory_order_relaxed);
  pthread_setspecific(exit_key, self);
  return self;
}

void sched_yield_quietly() { sched_yield(); }

bool Spinner::look_at_clock() {
  const bool crowded = process.busy_threads.load(std::memory_order_relaxed) > process.cpus;
  const std::int64_t limit = crowded && process.spin_ns > kScarceSpinNs ? kScarceSpinNs : process.spin_ns;
  if (limit == 0) return false;
  if (limit == INT64_MAX) return true;
  const std::int64_t now = now_ns();
  if (deadline_ == 0) {
    deadline_ = now + limit;
    return true;
  }
  return now < deadline_;
}

bool pause_resources(Thread* self) {
  if (self->team != self->root_team) return false;
  Member& member = *self->member;
  for (Team* child : {member.hot_child, member.serial_child})
    if (child != nullptr) disband(child);
  member.hot_child = member.serial_child = nullptr;
  drain_pool();
  return true;
}

}  // namespace hearth::rt

#ifdef HEARTH_COUNT_SHARED_WRITES
extern "C" [[gnu::visibility("default")]] std::uint64_t hearth_shared_writes() {
  std::uint64_t sum = 0;
  hearth::rt::for_each_thread(
      [](hearth::rt::Thread* thread, void* total) {
        *static_cast<std::uint64_t*>(total) += thread->shared_writes;
      },
      &sum);
  return sum;
}
#endif
