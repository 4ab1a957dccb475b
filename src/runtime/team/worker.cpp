#include "runtime/team/worker.h"

#include <cinttypes>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "runtime/state/fork_word.h"
#include "runtime/state/live.h"
#include "runtime/state/waiting.h"
#include "runtime/sync/wait.h"
#include "runtime/task/wait.h"
#include "runtime/team/barrier.h"
#include "runtime/team/build_team.h"
#include "runtime/team/crowd.h"
#include "runtime/team/implicit_task.h"
#include "runtime/team/initial_task.h"
#include "runtime/team/microtask.h"
#include "runtime/team/pool.h"
#include "runtime/tools/crash.h"
#include "runtime/tools/events.h"

namespace hearth::rt {

void run_share(Thread* self, const ForkLine& line) {
  if (line.is_kmp) {
    std::int32_t gtid = self->gtid;
    std::int32_t btid = self->tid;
    void** argv = line.argc <= ForkLine::kInlineArgs ? const_cast<void**>(line.args) : line.argv;
    void** exit_frame = events::active() ? &self->task->ompt_exit_frame : nullptr;
    hearth_invoke_microtask(line.function, &gtid, &btid, line.argc, argv, exit_frame);
  } else {
    if (events::active()) events::enter_user_code(self->task, __builtin_frame_address(0));
    reinterpret_cast<TaskFunction>(line.function)(line.data);
  }
}

namespace {

// From hire to dismissal.
void serve_team(Thread* self, Member* member) {
  Team* team = member->team;
  self->team = team;
  self->member = member;
  self->tid = member->tid;
  self->task = &member->implicit;
  std::uint64_t seen = member->seen_go;
  begin_wait(self);
  bool told = false;  // an OMPT tool knows of an implicit task that is still in its last barrier
  for (;;) {
    std::uint64_t go = seen;
    // Pairs with the release in begin_region() and disband(): the fork line and what it leads to are seen.
    auto called = [&] { return (go = team->fork.go.load(std::memory_order_acquire)) != seen; };
    const bool took_part = self->tid < ForkWord{seen}.size();
    wait_until(team->go_events, called, [&](bool last_look) {
      if (!took_part || HEARTH_LIKELY(team->tasked.load(std::memory_order_relaxed) == 0))
        return Look::nothing;
      return help_in_wait(self, [&] { return help_between_regions(self, seen, last_look); });
    });
    seen = go;
    if (HEARTH_UNLIKELY(told)) {
      events::join_end(self);
      events::implicit_task_end(self);
      told = false;
    }
    if (HEARTH_UNLIKELY(ForkWord{go}.dismisses())) break;
    HEARTH_ASSERT(ForkWord{go}.size() <= team->capacity && member->thread == self,
                  "the fork word %#" PRIx64 " calls member %d of a team of %d", go, self->tid, team->capacity);
    if (HEARTH_UNLIKELY(self->tid >= ForkWord{go}.size())) continue;
    end_wait(self, 0);
    begin_implicit_task(self, member);
    if (HEARTH_UNLIKELY(member->placing != self->placed)) move_to_place(self, member);
    told = events::active() && events::implicit_task_begin(self);
    run_share(self, team->fork);
    if (told) events::join_begin(self);
    arrive_at_join(self);
  }
  for (Team* child : {member->hot_child, member->serial_child})
    if (child != nullptr) disband(child);
  member->hot_child = member->serial_child = nullptr;
  flush_away(self);
  self->team = nullptr;
  self->member = nullptr;
  self->task = nullptr;
  count_shared_write();
  team->dismissed.fetch_add(
      1, std::memory_order_release);  // pairs with the acquire in disband(); the team may be gone now
}

}  // namespace

void* worker_main(void* arg) {
  auto* self = static_cast<Thread*>(arg);
  tls_thread = self;
  live_page::begin_thread(self, static_cast<std::int32_t>(syscall(SYS_gettid)));
  if (self->made_on >= 0)
    begin_in_crowd(self->hired_as.load(std::memory_order_acquire), self->made_on);  // pairs with the release in hire()
  void* signal_stack = make_signal_stack();
  if (events::active()) events::thread_begin(self, ompt_thread_worker);
  for (;;) {
    Member* member = nullptr;
    wait_until(self->parked, [&] {
      member = self->hired_as.load(std::memory_order_acquire);  // pairs with the release in hire()
      return member != nullptr || self->retire.load(std::memory_order_acquire);
    });
    if (member == nullptr) break;
    self->hired_as.store(nullptr, std::memory_order_relaxed);
    HEARTH_ASSERT(member->thread == self, "thread %d is hired for a slot that another has", self->gtid);
    serve_team(self, member);
    park(self);
  }
  if (events::active()) events::thread_end(self);
  drop_initial_team(self);
  drop_signal_stack(signal_stack);
  tls_thread = nullptr;
  live_page::end_thread(self);
  leave_pool(self);
  return nullptr;
}

}  // namespace hearth::rt
