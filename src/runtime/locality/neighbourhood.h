// What a team keeps when its policy deals tasks to locations: where its members are, an inbox for each
// location, and how far an idle member looks.
//
// A Neighbourhood belongs to a team and lives as long; teams whose policy never deals, and all teams on a
// machine with one location, have none. Inboxes are filled and emptied by any member, under the inbox's lock;
// `size` may be read without it as a hint. A member writes its own location, as every region begins; others
// read it as a hint: a wrong one costs time only.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cacheline.h"
#include "placement/need.h"
#include "policy/shares.h"
#include "policy/task_policy.h"
#include "runtime/sync/lock.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

using placement::Location;

/// Tasks dealt to a location, first in, first out. Whoever takes one may step over those that it may not run.
class alignas(kCacheLinePair) Inbox {
 public:
  /// Beyond so many the creator runs the task itself.
  static constexpr std::uint32_t kMost = 1u << 15;

  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() { std::free(ring_); }

  std::uint32_t size() const { return size_.load(std::memory_order_relaxed); }

  /// Tasks that were put here as they were created, ever, and how long tasks take that have a footprint and
  /// run here (ticks; 0: not known). Hints.
  std::uint32_t created() const { return created_.load(std::memory_order_relaxed); }
  std::uint64_t task_time() const { return task_time_.load(std::memory_order_relaxed); }
  /// What a task that was dealt here would have lost elsewhere, a mean (LoadView::stake).
  std::uint64_t stake() const { return stake_.load(std::memory_order_relaxed); }
  void note_stake(std::uint64_t stake) {
    const std::uint64_t mean = this->stake();
    const std::uint64_t now = policy::running_mean(mean, stake);
    if (now == mean) return;
    count_shared_write();
    stake_.store(now, std::memory_order_relaxed);
  }
  void note_task_time(std::uint64_t time) {
    count_shared_write();
    task_time_.store(policy::running_mean(task_time(), time), std::memory_order_relaxed);
  }

  /// This location's part of the present dealing. A hint.
  policy::Share share() const {
    return {.dealt = dealt_.load(std::memory_order_relaxed),
            .stolen = stolen_.load(std::memory_order_relaxed),
            .before = dealt_before_.load(std::memory_order_relaxed),
            .released = released_.load(std::memory_order_relaxed)};
  }
  /// `released`: some were at some location in the dealing that is over.
  void begin_dealing(bool released) {
    dealt_before_.store(released ? 0 : dealt_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    released_.store(false, std::memory_order_relaxed);
    dealt_.store(0, std::memory_order_relaxed);
    stolen_.store(0, std::memory_order_relaxed);
  }
  /// By its workers from another location, or -1: from it.
  void count_stolen(std::int32_t tasks) {
    count_shared_write();
    stolen_.fetch_add(tasks, std::memory_order_relaxed);
  }

  /// `created`: by the task that makes it, and not by one that it has waited for. False when the inbox is
  /// full.
  bool put(Task* task, bool created);

  /// The oldest task that `accept(task)` says yes to, or null.
  template <class Accept>
  Task* take(Accept accept) {
    if (size() == 0) return nullptr;
    lock_.lock();
    Task* task = nullptr;
    const std::uint32_t size = size_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < size; ++i) {
      Task* candidate = at(i);
      if (!accept(candidate)) continue;
      task = candidate;
      for (; i > 0; --i) at(i) = at(i - 1);
      ++first_;
      count_shared_write(2);
      size_.store(size - 1, std::memory_order_relaxed);
      break;
    }
    lock_.unlock();
    return task;
  }

  void reset_after_fork() { lock_.reset(); }

 private:
  Task*& at(std::uint32_t i) { return ring_[(first_ + i) & (capacity_ - 1)]; }

  Lock lock_;
  std::atomic<std::uint32_t> size_{0};
  std::atomic<std::uint32_t> created_{0};
  std::atomic<std::int32_t> dealt_{0};  // these make a policy::Share
  std::atomic<std::int32_t> dealt_before_{0};
  std::atomic<std::int32_t> stolen_{0};
  std::atomic<bool> released_{false};
  std::atomic<std::uint64_t> task_time_{0};
  std::atomic<std::uint64_t> stake_{0};
  std::uint32_t first_ = 0;
  std::uint32_t capacity_ = 0;  // a power of two
  Task** ring_ = nullptr;
};

/// What policies that weigh load see of all locations (LoadView). Refreshed now and then by one of those who
/// read it, so that these share its lines: hints, all of them, ticks.
struct alignas(kCacheLinePair) Loads {
  std::atomic<std::uint64_t> until{0};      // when it is old
  std::atomic<std::uint64_t> task_time{0};  // 0: not known
  std::atomic<std::uint64_t> wait[placement::kMaxLocations] = {};
  std::atomic<std::uint64_t> guest_wait[placement::kMaxLocations] = {};
  std::atomic<std::uint64_t> queue[placement::kMaxLocations] = {};  // both, for tasks that others release
};

struct Neighbourhood {
  std::int32_t locations = 0;
  std::atomic<std::uint32_t> workers[placement::kMaxLocations] = {};  // members at each location
  std::atomic<std::uint64_t> staffed{0};                              // bit n: workers[n] is not 0
  Inbox* inboxes = nullptr;                                           // one for each location
  std::atomic<std::int32_t> dealers{0};  // members of which Member::deals is true
  // Pages of footprints that were dealt lately, and when what is known of them was last held against the
  // kernel: the region, and the tick of the PageMap's clock.
  static constexpr std::uint32_t kRecent = 64;
  std::atomic<std::uint64_t> recent[kRecent] = {};
  std::atomic<std::uint32_t> checked_epoch{0};
  std::atomic<std::uint32_t> checked_tick{0};
  std::atomic<std::uint64_t> idle_check{
      0};  // when a member without work does it again, in ticks() of the processor

  Loads loads;

  /// One member more (1) or less (-1) there.
  void count_worker(Location where, int difference);

  std::uint32_t created() const {
    std::uint32_t sum = 0;
    for (std::int32_t i = 0; i < locations; ++i) sum += inboxes[i].created();
    return sum;
  }
  /// How long a task takes at the location; if none has run there, how long one takes elsewhere.
  std::uint64_t task_time(Location where) const {
    std::uint64_t time = inboxes[where].task_time();
    for (std::int32_t i = 0; time == 0 && i < locations; ++i) time = inboxes[i].task_time();
    return time;
  }
  std::uint32_t dealt() const {
    std::uint32_t sum = 0;
    for (std::int32_t i = 0; i < locations; ++i) sum += inboxes[i].size();
    return sum;
  }
};

/// The machine as policies see it; worked out at the first call, then constant.
const policy::MachineView& machine_view();
/// The locations by rising distance from `from`, itself first.
const Location* locations_near(Location from);

/// Whether the policy of the process deals tasks to locations here: it does so at all, and there are several.
bool several_locations();

Neighbourhood* make_neighbourhood();
void free_neighbourhood(Neighbourhood* neighbourhood);

/// The member finds out where it is: as a region begins, and before it looks far away.
void locate(Thread* self, Member* member);
/// For the primary thread when the team's size changes: members that are not in the region any more do not
/// count.
void recount_workers(Team* team);

/// For a member that has found no work: holds what is known of the tasks' memory against the kernel, now and
/// then.
void check_when_idle(Neighbourhood& all);

/// The member deals a task that it has created; it does not any more, since it looks for work or begins a
/// region.
void note_dealing(Neighbourhood& all, Member* member);
void end_dealing(Neighbourhood& all, Member* member);
/// What a look for far tasks has to know of the present dealing, at all locations together.
struct DealingNow {
  bool dealing = false;   // tasks are being dealt: the dealing before tells how many there will be,
  bool released = false;  // but nothing where tasks release others
  std::int64_t before = 0, dealt = 0;  // tasks of that one, and of this one
  std::int64_t workers = 0;

  std::int64_t tasks() const { return dealing ? before : dealt; }
};
DealingNow dealing_now(const Neighbourhood& all);
/// Tasks that wait at `where`, as the policy sees them for a thief at `here`.
policy::FarTasks far_tasks(const Neighbourhood& all, const DealingNow& now, Location here, Location where);

/// The member has run a task that has a footprint.
void note_task_time(const Thread* self, std::uint64_t ticks);

/// Where the task should run; kHere: where it became ready. Only for tasks with a footprint, in a team with a
/// neighbourhood. `created`: it is ready as its creator makes it, and not because a task has ended.
Location deal(Thread* self, Task* task, bool created);

/// Where load is weighed: the member has created a task that it may deal. Whether the policy shall be asked
/// where.
bool asks_where(Thread* self);

}  // namespace hearth::rt
