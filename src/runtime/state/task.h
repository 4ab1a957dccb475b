// A task: its descriptor.
//
// Life: create (creator) -> [dependences] -> deal -> find -> run (executing thread) -> finished -> complete
// -> recycled. "Finished" is the task's own body (taskwait waits for that); "complete" is the task with all
// its descendants (taskgroups, barriers and the descriptor's memory wait for that). Tasks are executed on one
// thread from start to end, also untied ones. Fields are written by the creator before the task is published,
// by the executing thread after it has claimed the task, or are atomic. Descriptors come from per-thread
// slabs and are type-stable: a thief may read `parent` and `depth` of a descriptor that it does not own, and
// believes the answer only after its claim succeeds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cacheline.h"
#include "placement/need.h"
#include "runtime/state/brood.h"
#include "runtime/state/icv.h"

namespace hearth::rt {

struct Thread;
struct Team;
struct Task;
struct DependTable;
struct DependNode;
struct Footprint;
struct Taskgroup;

using TaskRoutine = std::int32_t (*)(std::int32_t gtid, void* kmp_task);  // what clang passes
using TaskFunction = void (*)(void* data);                                // what gcc passes

enum TaskFlag : std::uint32_t {
  kTaskTied = 1u << 0,
  kTaskFinal = 1u << 1,
  kTaskImplicit = 1u << 2,
  kTaskInitial = 1u << 3,
  kTaskIncluded = 1u << 4,  // runs at once in the creating thread
  kTaskMergeable = 1u << 5,
  kTaskKmp = 1u << 6,  // `routine(gtid, payload)` instead of `function(data)`
  kTaskDetachable = 1u << 7,
  kTaskPriority = 1u << 8,
  kTaskHasDepend = 1u << 9,     // `node` is set
  kTaskNamesDepend = 1u << 10,  // has a depend clause; told to tools
  kTaskProxy = 1u << 11,        // completed by somebody outside (kmpc proxy, target nowait)
  kTaskAnnounced = 1u << 12,    // `announced` is set
  kTaskSaysData = 1u << 13,     // had a footprint when it was made: `data_home` and `stake` are set
  kTaskResume = 1u << 14,       // an untied task that asked to be called again for its next part (kmpc)
  kTaskTarget = 1u << 15,
  kTaskNoDiscard = 1u << 16,     // is called even when cancelled: copy constructors have run, and it alone can destroy
  kTaskFootprint = 1u << 17,     // `footprint` is set
  kTaskOwnsIcvs = 1u << 18,      // `icvs` is this task's own block
  kTaskWaitForEvent = 1u << 19,  // undeferred and detachable: the body's thread waits for the event
  kTaskRange = 1u << 22,  // the runtime's own, which runs tasks of a taskloop; `data` begins with their function
  kTaskAfterSeveral = 1u << 24,  // when it was made, more than one predecessor had not finished
  kTaskWatched = 1u << 25,       // `footprint` is set, and is no more than what silent.h wants to know of the task
  // Set only while a tool is active, or tasks are explained.
  kTaskChunk = 1u << 20,      // of a taskloop: `ompt_chunk_start` and `ompt_chunk_iterations` are set
  kTaskSawCancel = 1u << 21,  // has met the cancellation of its taskgroup
  kTaskDealt = 1u << 23,      // the policy has chosen a location for it
  // Set only where assertions are on.
  kTaskFree = 1u << 31,  // the descriptor lies in a slab
};

/// What became of a detachable task so far: see detach.h.
enum DetachState : std::uint32_t {
  kDetachRunning = 0,
  kDetachBodyEnded = 1,
  kDetachFulfilled = 2,
  kDetachDiscarded = 3,  // by a cancellation: only the event's handle still leads to the descriptor
};

struct alignas(kCacheLine) Task {
  // --- first line: what creation and execution touch
  std::atomic<Task*> parent{nullptr};
  std::atomic<std::uint32_t> depth{0};
  std::uint32_t flags = 0;
  union {
    TaskFunction function;
    TaskRoutine routine;
  };
  void* data = nullptr;  // gomp: the argument block; kmpc: the kmp_task_t
  Team* team = nullptr;
  Icvs* icvs = nullptr;
  Brood* brood = nullptr;  // counts this task: its parent's, or its taskgroup's
  Taskgroup* group =
      nullptr;  // innermost group this task belongs to, and while running: innermost it has opened
  // --- second line: this task's own children
  Brood children;
  DependTable* depends = nullptr;  // the dependences among this task's children
  Thread* home = nullptr;          // whose slab this descriptor came from
  union {
    Task* next_free = nullptr;  // link in free lists
    Task* ompt_outer;           // what its thread was running when it took this task
  };
  std::uint16_t size_class = 0;
  std::uint16_t priority = 0;
  std::uint32_t payload_size = 0;  // bytes of data that its creator asked for
  // --- third line: what some tasks touch, with the flag that is named, and tools
  DependNode* node = nullptr;      // kTaskHasDepend: this task's place among its siblings
  Footprint* footprint = nullptr;  // kTaskFootprint, kTaskWatched: what it touches, as clauses or arguments say; as long as anybody asks
  std::uint64_t stake = 0;         // kTaskSaysData: what it was foretold to lose elsewhere (ns)
  placement::Location data_home = placement::kUnknown;  // kTaskSaysData: where it loses nothing, as the policy was asked
  // Data and frames of OMPT, written only while a tool is active: all that most tasks need of it is in this line.
  std::uint32_t ompt_flags = 0;
  std::uint64_t ompt_task_data = 0;
  void* ompt_exit_frame = nullptr;
  void* ompt_enter_frame = nullptr;
  std::int32_t ompt_exit_flags = 0;
  std::int32_t ompt_enter_flags = 0;
  // --- fourth line: what most tasks never touch; valid only with the flag that is named
  Footprint* announced = nullptr;  // kTaskAnnounced: that of the next task it makes, by hearth_task_footprint()
  std::atomic<std::uint32_t> detach_state{0};  // kTaskDetachable, kTaskProxy: detach.h
  // Written only while decisions are logged (decisions.h): which of its parent's children it is, and how many
  // it has made itself.
  std::uint32_t child_number = 0;
  std::uint32_t children_made = 0;
  std::uint64_t ompt_chunk_start = 0;
  std::uint64_t ompt_chunk_iterations = 0;

  const void* body() const { return reinterpret_cast<const void*>(function); }
  /// The program's own function, to which what clang passes leads by way of the payload (kmp_task_t: its
  /// second word).
  const void* function_of_program() const {
    if (is(kTaskRange)) return *static_cast<const void* const*>(data);
    return is(kTaskKmp) ? static_cast<void* const*>(data)[1] : body();
  }
  void* payload() { return this + 1; }
  static Task* of_payload(void* p) { return static_cast<Task*>(p) - 1; }
  bool is(std::uint32_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Task) % kCacheLine == 0, "clang's task payloads use 64-byte aligned accesses");
static_assert(offsetof(Task, node) == 2 * kCacheLine && offsetof(Task, announced) == 3 * kCacheLine);

/// Whether `task` descends from `ancestor`. Callable on an entry that the caller does not own (see the head
/// of the file).
inline bool descends_from(const Task* task, const Task* ancestor) {
  const std::uint32_t floor = ancestor->depth.load(std::memory_order_relaxed);
  while (task != nullptr && task->depth.load(std::memory_order_relaxed) > floor)
    task = task->parent.load(std::memory_order_relaxed);
  return task == ancestor;
}

}  // namespace hearth::rt
