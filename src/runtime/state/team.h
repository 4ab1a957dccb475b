// A team, its members, and the lines by which a region starts and ends.
//
// A Team is built by the thread that becomes its primary thread and is kept for that thread's next region (a
// hot team). Its member slots are used by one thread each; what another thread reads or writes of a slot is
// atomic. Fork: the primary fills Team::fork and bumps its epoch; the workers see it. Join: every worker
// bumps its own arrival word; the primary reads them. docs/internals/barrier.md tells the barrier, the join
// and why no wake-up is lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cacheline.h"
#include "policy/patience.h"
#include "policy/shares.h"
#include "runtime/state/deque.h"
#include "runtime/state/fork_word.h"
#include "runtime/sync/event_count.h"
#include "runtime/sync/lock.h"
#include "runtime/sync/offer.h"
#include "runtime/state/loop_state.h"
#include "runtime/sync/relaxed.h"
#include "runtime/state/task.h"

namespace hearth::memory {
class Migration;
}

namespace hearth::rt {

struct Thread;
struct Team;
struct WorkShares;
struct TeamLocality;

using Microtask = void (*)(std::int32_t* gtid, std::int32_t* btid, ...);

/// What the primary thread hands to its workers. One line: read by all, written once a region.
struct alignas(kCacheLinePair) ForkLine {
  static constexpr int kInlineArgs = 4;
  // A ForkWord. Release by the primary, acquire by the workers.
  std::atomic<std::uint64_t> go{0};
  bool is_kmp = false;
  std::int32_t argc = 0;
  void* function = nullptr;  // void (*)(void*) or Microtask
  union {
    void* data = nullptr;  // gomp's argument
    void** argv;           // kmpc, more than kInlineArgs: on the primary's stack until the join
  };
  void* args[kInlineArgs] = {};
};

/// How long a task of a taskloop took when a thread met the loop last.
struct LeafCost {
  const void* body = nullptr;
  std::uint64_t ticks = 0;
};

/// One thread's slot in a team.
struct alignas(kCacheLinePair) Member {
  // phase << 1 | "my tasks are not all complete", and region epoch << 1 | the same for the join. Written by
  // the member, polled by the others.
  std::atomic<std::uint64_t> arrival{0};
  std::atomic<std::uint64_t> joined{0};
  // Hierarchical release for the subtree of a leader in teams of more than kFlat members; the root's is slot
  // 0's.
  alignas(kCacheLinePair) std::atomic<std::uint64_t> release{0};

  // The member's own: nobody else writes, most fields nobody else reads.
  alignas(kCacheLinePair) Thread* thread = nullptr;
  std::int32_t tid = 0;
  std::uint64_t phase = 0;    // barriers met, over all regions of the team
  std::uint32_t singles = 0;  // single constructs met in this region
  std::uint32_t steal_seed = 0;
  std::int32_t last_victim = 0;
  // In a team whose tasks are dealt: where the member is, how it looks for far tasks, and LoadView::turn.
  std::atomic<std::int32_t> location{-1};
  policy::Patience patience;
  policy::CreatorsTurn creators_turn;
  std::uint32_t turn = 0;
  std::uint32_t silence = 1, next_silence = 1;  // tasks without clauses until one is looked at (silent.h), and after that
  std::uint32_t questions = 0;  // where load is weighed: how often it was to say whether to ask about a task
  std::atomic<bool> deals{false};  // has dealt a task that it created, and not looked for one since
  policy::CreationTime creation;  // where load is weighed
  Team* hot_child = nullptr;                      // the team of the last region that this member forked
  Team* serial_child = nullptr;                   // the same for regions of one thread
  std::int32_t place = -1;                        // place number, -1: not bound
  std::int32_t place_first = 0, place_count = 0;  // place-partition-var
  std::uint32_t weight = 0, weight_before = 0;    // its part of Team::weights, and those of the members before it
  std::uint32_t placing = 0;                      // which decision it comes from: new_placing() (binding/places.h)
  Team* team = nullptr;
  std::uint64_t seen_go = 0;  // the fork word from which a newly hired member counts
  bool in_barrier = false;    // suspended in a barrier or the join: may run any task of the team
  LeafCost leaf_costs[8];     // by the loop's function: taskloop_range.h
  LeafCost& leaf_cost_of(const void* body) {
    return leaf_costs[(reinterpret_cast<std::uintptr_t>(body) >> 4) % 8];
  }
  LoopState loop;
  Task implicit;  // this member's implicit task
  Deque deque;
  // Where the member is placed and what it uses (bubbles/seats.h, hints.h). Behind what every task touches.
  std::int32_t entity = -1;                       // in the tree of bubbles (bubbles/seats.h); -1: it is not there
  std::int32_t next_bubble = -1;                  // made for the next nested team before that is there; -1: none
  Relaxed<std::int32_t> seat{-1};                 // its place in the PlaceTree; -1: it may run anywhere
  std::atomic<Thread*> seated{nullptr};           // `thread`, once it has looked for its seat
  Relaxed<std::uint8_t> hints_due{0};             // as Team::hints_due, of the team that it will fork next
  struct SaidHints* said = nullptr;               // hints.cpp: its last calls of hearth_affinity()
};

/// A queue that several threads push to: prioritised tasks, tasks given back, and the `central` policy's only
/// queue.
struct SharedQueue {
  std::atomic<std::uint32_t> size{0};
  Lock lock;
  Task** heap = nullptr;  // binary heap by priority, then age
  std::uint64_t* age = nullptr;
  std::uint32_t capacity = 0;
  std::uint64_t next_age = 0;
};

struct Team {
  static constexpr int kFlat = 8;        // up to this many members everybody reads everybody's arrival
  static constexpr int kWorkShares = 8;  // constructs that fast threads may run ahead of slow ones

  ForkLine fork;

  // Constant within a region, except where noted; written by the primary before the fork, and only what has
  // changed: a write would cost every worker a transfer of the line.
  alignas(kCacheLinePair) Relaxed<std::int32_t> size{1};  // threads of this region
  std::int32_t capacity = 0;                              // member slots, of which `staffed` have a thread
  std::int32_t staffed = 1;
  std::uint32_t weights = 0;       // capacities of the members' cores, summed; 0: static loops have equal parts
  std::int32_t level = 0;          // nested parallel regions around, this one included
  std::int32_t active_level = 0;   // those with more than one thread
  std::uint32_t resync_epoch = 0;  // the last region whose members take their phase from phase_base
  std::uint64_t phase_base = 0;
  Relaxed<bool> flat{true};  // barriers: everybody reads everybody's arrival, instead of a tree
  // Something was said of memory that the team's threads use, and is not in force yet (bubbles/hints.h).
  Relaxed<std::uint8_t> hints_due{0};
  Team* parent = nullptr;
  Task* parent_task = nullptr;      // the task that met the parallel construct
  Member* parent_member = nullptr;  // the slot that forked us
  Member** members = nullptr;
  Icvs* icvs = nullptr;
  Icvs own_icvs;
  bool one_queue = false;                  // the policy keeps one queue for all
  TeamLocality* locality = nullptr;  // null: the policy leaves every task where it was made ready
  std::int32_t proc_bind = 0;
  std::int32_t num_teams = 1, team_num = 0;  // league (teams construct on the host)
  /// For what the members' places were computed last.
  struct Placement {
    std::int32_t size = -1;
    std::int32_t bind = -1;
    std::int32_t parent_place = -1, first = 0, count = 0;
    friend bool operator==(const Placement&, const Placement&) = default;
  } placement;
  std::uint32_t placement_number = 0;  // which decision that was
  // Threads beyond the primary that this region holds of its contention group's thread limit, and for a team
  // around an initial task: how many all regions of the group hold together.
  std::int32_t reserved = 0;
  // 1 + the threads that this region holds of the budget (team/budget.h); 0: it was not asked. With or without the primary thread.
  std::int32_t budget = 0;
  bool budget_has_primary = false;
  std::atomic<std::int32_t> group_reserved{0};
  void* codeptr = nullptr;  // OMPT: return address of the region's entry point
  std::uint64_t ompt_parallel_data = 0;
  bool ompt_of_league = false;  // the region's threads serve a league
  std::atomic<void*> task_reductions[2] =
      {};                             // of the region, of the worksharing construct: task_reduction.cpp
  Taskgroup* region_group = nullptr;  // region-wide taskgroup of GOMP_parallel_reductions

  // Shared state within a region, each on a line of its own.
  alignas(kCacheLinePair) std::atomic<std::uint32_t> cancel{0};   // parallel cancelled
  alignas(kCacheLinePair) std::atomic<std::uint32_t> singles{0};  // single constructs claimed
  alignas(kCacheLinePair) std::atomic<void*> copyprivate{nullptr};
  alignas(kCacheLinePair) std::atomic<std::uint32_t> tasked{0};  // a task was queued in this region
  std::atomic<std::int32_t> dismissed{0};                        // workers that have left on dismissal
  Offer<memory::Migration> migration;  // a member's, with which idle ones help (bubbles/move_together.h)
  EventCount events;     // who sleeps inside a region: barriers, joins, taskwait, ordered, doacross…
  EventCount go_events;  // workers asleep between regions
  SharedQueue shared_queue;
  alignas(kCacheLinePair) WorkShares* workshares = nullptr;  // workshare.h
  /// For what the members' seats were planned last.
  struct Seating {
    std::int32_t size = 0;
    std::int32_t planned = 0;  // the size that the plan was made for
    std::uint32_t plan = 0;    // the last plan of any team that this one has seen
    friend bool operator==(const Seating&, const Seating&) = default;
  } seating;
  std::int32_t bubble = -1;  // in the tree of bubbles; -1: it is not there

  Member& primary() { return *members[0]; }
  /// Which of the team's regions this is. For its members, inside the region.
  std::uint32_t epoch() const {
    return ForkWord{fork.go.load(std::memory_order_relaxed)}.epoch();
  }
};

}  // namespace hearth::rt
