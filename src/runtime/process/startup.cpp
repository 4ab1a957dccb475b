#include "runtime/process/startup.h"

#include <atomic>
#include <cstdlib>
#include <ctime>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "memory/allocators.h"
#include "memory/sites.h"
#include "memory/takeover.h"
#include "policy/task_policy.h"
#include "policy/tuning.h"
#include "runtime/binding/places.h"
#include "runtime/bubbles/move_together.h"
#include "runtime/bubbles/relocate.h"
#include "runtime/bubbles/seats.h"
#include "runtime/locality/explained.h"
#include "runtime/locality/learned.h"
#include "runtime/locality/length_guess.h"
#include "runtime/team/implicit_task.h"
#include "runtime/locality/machine_view.h"
#include "runtime/tools/crash.h"
#include "runtime/process/fork_child.h"
#include "runtime/settings/settings.h"
#include "runtime/state/live.h"
#include "runtime/state/process.h"
#include "runtime/state/thread.h"
#include "runtime/sync/wait.h"
#include "runtime/task/wait.h"
#include "runtime/team/budget.h"
#include "runtime/team/build_team.h"
#include "runtime/team/initial_task.h"
#include "runtime/state/thread_table.h"
#include "runtime/team/pool.h"
#include "runtime/tools/check.h"
#include "runtime/tools/decisions.h"
#include "runtime/tools/events.h"
#include "runtime/tools/explain.h"
#include "runtime/tools/foreign_runtimes.h"
#include "topology/allowance.h"
#include "topology/current.h"

namespace hearth::rt {

thread_local constinit Thread* tls_thread __attribute__((tls_model("initial-exec"))) = nullptr;

#ifdef HEARTH_COUNT_SHARED_WRITES
void count_shared_write(std::uint64_t n) {
  if (Thread* self = Thread::current_or_null()) self->shared_writes += n;
}
#endif

namespace {

// Start-up has two stages. In the second one the program's tool is at work, which may call the runtime.
pthread_once_t runtime_once = PTHREAD_ONCE_INIT;
pthread_once_t tools_once = PTHREAD_ONCE_INIT;
std::atomic<bool> started{false};        // both stages are over; release, for the acquire in initialize()
std::atomic<pid_t> tools_starter{0};     // the thread in the second stage, which asks for itself only
pthread_key_t exit_key;

void release_root(Thread* self) {
  drop_initial_team(self);
  Team* root = self->root_team;
  if (root != nullptr) {
    if (events::active()) {
      events::initial_task_end(self);
      events::thread_end(self);
    }
    disband(root);
    [[maybe_unused]] const std::int32_t busy = contention.busy_threads.fetch_sub(1, std::memory_order_relaxed);
    HEARTH_ASSERT(busy >= 1, "a thread of the program ends, and %d were busy", busy);
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
  run_left_tasks(self);
  release_root(self);
  tls_thread = nullptr;
  live_page::end_thread(self);
  retire_thread_object(self);
}

void read_settings() {
  init_settings();
  const Settings& s = settings();
  if (!s.enabled)
    warn(
        "HEARTH=off, but the loader has found Hearth's library, so the program runs on Hearth. "
        "Start it with `hearth run`, or remove Hearth from LD_LIBRARY_PATH and LD_PRELOAD.");
  const topology::Allowance& allowance = topology::allowance();
  process.visible_cpus = static_cast<std::int32_t>(allowance.cpus.count());
  contention.cpus = static_cast<std::int32_t>(allowance.default_team_size());
  process.stack_size = s.stack_size;
  process.target_offload.store(s.target_offload, std::memory_order_relaxed);
  process.policy = policy::policy_at(static_cast<std::size_t>(s.policy));
  process.task_vicinities = process.policy->stays_in_vicinity() && s.vicinity != 0;
  process.weighs_load = process.policy->weighs_load();
  process.shares_own_queues = process.policy->shares_own_queues();

  Icvs& icvs = process.initial_icvs;
  icvs.nthreads = s.num_threads_count > 0 ? s.num_threads[0] : contention.cpus;
  if (s.num_threads_count == 0) icvs.nthreads_level = -1;
  icvs.thread_limit = s.thread_limit > 0 ? s.thread_limit : INT32_MAX;
  icvs.dynamic = s.dynamic;
  icvs.run_sched_kind = s.schedule.kind;
  if (s.schedule.modifier == ScheduleModifier::monotonic) icvs.run_sched_kind |= INT32_MIN;
  icvs.run_sched_chunk = s.schedule.chunk;
  icvs.default_device = s.default_device;
  icvs.nteams = s.num_teams;
  icvs.teams_thread_limit = s.teams_thread_limit;
  if (!s.allocator.empty()) {
    const memory::AllocatorText text = memory::allocator_from_text(s.allocator);
    if (text.problem == nullptr)
      icvs.default_allocator = text.allocator;
    else
      warn(
          "%.*s=\"%.*s\": %s at column %zu; legal: a predefined allocator, or a predefined memory "
          "space with "
          "traits such as omp_default_mem_space:alignment=64,pinned=true; using omp_default_mem_alloc.",
          static_cast<int>(s.allocator_variable.size()), s.allocator_variable.data(),
          static_cast<int>(s.allocator.size()), s.allocator.data(), text.problem, text.column);
  }
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
    contention.spin_ns = 0;
  else if (s.wait_policy == WaitPolicy::active && !scarce)
    contention.spin_ns = INT64_MAX;
  else
    contention.spin_ns = scarce ? tuning::kScarceSpinNs : tuning::kSpinNs;
  // KMP_BLOCKTIME before GOMP_SPINCOUNT, of which a turn is about 10 ns.
  if (s.spin_count >= 0)
    contention.spin_ns = s.spin_count == INT64_MAX ? INT64_MAX : s.spin_count * tuning::kSpinCountNs;
  if (s.blocktime_us >= 0) contention.spin_ns = s.blocktime_us == INT64_MAX ? INT64_MAX : s.blocktime_us * 1000;
  process.task_cutoff = s.task_cutoff;
}

// One warning is enough: what has to be changed is the same for all of them.
void name_foreign_runtime(void*, const char* path, bool bound) {
  if (!bound) return;
  HEARTH_WARN_ONCE(
      "another OpenMP runtime is used in this process: %s. Each runtime starts its own threads; together they may need "
      "more CPUs than there are. `hearth run` gives the whole program to one runtime.",
      path);
}

void start_runtime() {
  const ClockReading begin = read_clocks();
  read_settings();
  pthread_key_create(&exit_key, on_thread_exit);
  pthread_atfork(nullptr, nullptr, in_fork_child);
  init_affinity();
  check::start();
  locate_threads_of_pretended_machine();
  process.several_locations = several_locations();
  process.infers = process.several_locations && process.weighs_load && settings().infers && !check::on;
  init_seats();
  let_teams_move();
  if (settings().num_threads_count == 0) process.initial_icvs.nthreads = contention.cpus;
  budget::start();
  learned::start();
  learned::begin_sites();
  install_crash_handlers();
  visit_foreign_runtimes(name_foreign_runtime, nullptr);
  if (settings().live)
    live_page::publish({.policy = process.policy->name(),
                        .locations = static_cast<std::uint32_t>(topology::machine().locations.size()),
                        .deals = process.several_locations});
  set_clock_rate(begin);
  // Pairs with the acquire in at_exit(), which another thread may run. Whoever calls in is ordered by pthread_once().
  process.initialized.store(true, std::memory_order_release);
  memory::take_over_malloc({.kind = settings().distribute.kind,
                            .learn = memory::sites::on,
                            .least = settings().distribute.least,
                            .huge = settings().huge_pages});
}

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// A tool's initializer may have made a root thread of its own and run regions. The tool has heard nothing of
// them: it hears of the thread now, and of workers when new ones are started.
void introduce_starter() {
  Thread* self = Thread::current_or_null();
  if (self == nullptr || !events::active()) return;
  pause_resources(self);
  events::thread_begin(self, ompt_thread_initial);
  events::initial_task_begin(self);
}

void start_tools() {
  tools_starter.store(this_thread(), std::memory_order_relaxed);
  const bool tool = events::start_tool();
  decisions::start();
  explain::start();
  const bool told = tool || check::on || decisions::on;
  if (explain::on) explain_dealing();
  events::active_word = static_cast<std::uint8_t>((told ? events::kToldTool : 0) | (explain::on ? events::kToldExplain : 0));
  introduce_starter();
  display_at_start(display_facts());
  tools_starter.store(0, std::memory_order_relaxed);
  started.store(true, std::memory_order_release);  // pairs with the acquire in initialize()
}

// A program that asks for a display gets it, even if it never calls the runtime; and malloc is taken over
// before the program's first large block.
[[gnu::constructor]] void at_load() {
  if (std::getenv("OMP_DISPLAY_ENV") != nullptr || std::getenv("HEARTH_DISTRIBUTE") != nullptr) initialize();
}

[[gnu::destructor]] void at_exit() {
  if (!process.initialized.load(std::memory_order_acquire)) return;  // pairs with start_runtime()
  budget::leave();
  check::finish();
  events::close_tool();
  decisions::finish();
  learned::finish();
  explain::finish();
  const RelocationCounts moves = relocation_counts();
  Served served{.plans = moves.plans, .threads_moved = moves.threads, .pages_moved = moves.pages};
  for_each_thread(
      [](Thread* thread, void* sums) {
        static_cast<Served*>(sums)->regions += thread->regions_served();
        static_cast<Served*>(sums)->tasks += thread->tasks_served();
      },
      &served);
  visit_foreign_runtimes(name_foreign_runtime, nullptr);  // those that came by dlopen()
  verify_report(served);
}

}  // namespace

void events::close_tool() {
  if (!active()) return;
  // The workers' last events come when they leave their teams. Only from outside a region can they be sent
  // home.
  Thread* self = Thread::current_or_null();
  if (self == nullptr) {
    drain_pool();  // the workers of threads that have ended
  } else if (pause_resources(self)) {
    initial_task_end(self);
    thread_end(self);
  }
  finish_tool();
}

void initialize() {
  // Pairs with the release in start_tools(): all that the start has written is seen.
  if (HEARTH_LIKELY(started.load(std::memory_order_acquire))) return;
  pthread_once(&runtime_once, start_runtime);
  // The tool calls from its initializer, or from a region there, whose threads are known. All others wait, or
  // the tool would hear of the ends of what it has not seen begin.
  if (Thread::current_or_null() != nullptr) return;
  if (tools_starter.load(std::memory_order_relaxed) == this_thread()) return;
  pthread_once(&tools_once, start_tools);
}

Thread* register_root_thread() {
  initialize();
  if (tls_thread != nullptr) return tls_thread;  // registered from a tool's initializer
  Thread* self = make_thread_object();
  if (self == nullptr) fatal("out of memory: no room for a thread of the program");
  self->is_root = true;
  self->handle = pthread_self();
  tls_thread = self;
  live_page::begin_thread(self, this_thread());
  Team* root = make_team(self, 1);
  root->own_icvs = process.initial_icvs;
  root->icvs = &root->own_icvs;
  self->root_team = root;
  self->team = root;
  self->member = root->members[0];
  self->tid = 0;
  begin_implicit_task(self, self->member);
  place_root(self);
  if (events::active()) {
    events::thread_begin(self, ompt_thread_initial);
    events::initial_task_begin(self);
  }
  contention.busy_threads.fetch_add(1, std::memory_order_relaxed);
  pthread_setspecific(exit_key, self);
  return self;
}

bool pause_resources(Thread* self) {
  if (self->team != self->root_team) return false;
  drop_initial_team(self);
  Member& member = *self->member;
  for (Team* child : {member.hot_child, member.serial_child})
    if (child != nullptr) disband(child);
  member.hot_child = member.serial_child = nullptr;
  drain_pool();
  return true;
}

}  // namespace hearth::rt
