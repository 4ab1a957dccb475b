// A thread that Hearth knows: the ones it started, and every thread of the program that called it.
//
// Thread::current() is one load of thread-local storage. All fields belong to the thread itself unless
// marked. Thread objects are never freed, only recycled: descriptors from their slabs may outlive the thread.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

#include "base/assert.h"
#include "base/cacheline.h"
#include "base/cpu.h"
#include "base/live_page.h"
#include "runtime/state/slab.h"
#include "runtime/state/team.h"

namespace hearth::rt {

struct alignas(kCacheLinePair) Thread {
  // Where the thread is now; saved and restored around nested regions.
  Team* team = nullptr;
  Member* member = nullptr;
  Task* task = nullptr;
  std::int32_t tid = 0;
  std::int32_t gtid = 0;  // small, unique among living threads
  bool is_root = false;   // a thread of the program, not started by us

  // What the compiler pushed for the next region (kmpc push_*, omp teams).
  std::int32_t pushed_threads = 0;
  std::int32_t pushed_bind = 0;
  const ThreadsList* pushed_list = nullptr;
  std::int32_t pushed_num_teams = 0;
  std::int32_t pushed_thread_limit = 0;

  Slab slab;

  // Statistics of this thread, summed at exit. `live` is its line of the page that `hearth top` reads (state/live.h), or
  // own_line where there is none. Set before the object's thread runs, and in a child by fork().
  LiveLine* live = &own_line;
  std::uint64_t shared_writes = 0;

  Team* root_team = nullptr;     // the implicit team of one around a root thread
  Team* initial_team = nullptr;  // kept for the next target region (initial_task.h)
  void* threadprivate = nullptr;
  struct LengthGuesses* length_guesses = nullptr;  // length_guess.h
  struct Footprint* spare_footprint = nullptr;     // footprint.h
  std::uint64_t stack_begin = 0,
                stack_end = 0;  // its stack's addresses (program_word.h); 0: nobody has asked
  pthread_t handle{};
  std::int32_t made_on = -1;      // of a worker that begins in a crowd (crowd.h): the CPU it counts from
  std::int32_t bound_place = -1;  // which place the kernel's mask was last set to; -1: none of ours
  Relaxed<std::int32_t> bound_seat{-1};  // the same for seats; who moves threads writes it, too
  Relaxed<std::int32_t> kernel_id{0};    // gettid(); 0: not known yet
  std::uint16_t regions_near = 0, regions_away = 0;  // a thread of the program, in a row, from its seat: seats.cpp
  std::uint16_t away_limit = 1;
  // How busy the thread is (state/waiting.h), where anybody asks. Who looks at balance reads these, too.
  Relaxed<std::uint64_t> waited{0};       // ticks, in waits that are over
  Relaxed<std::uint64_t> waits_since{0};  // ticks; 0: it does not wait
  Relaxed<std::int32_t> sits_as{-1};      // Member::entity of its last seat
  // For who looks at balance, under the lock of the live tree.
  std::uint64_t waited_then = 0;  // what had been waited at the last look
  // The thread's own: passes until it looks at balance, of how many, and when it has looked last.
  std::uint32_t passes_to_look = 0, passes_between_looks = 0;
  std::uint64_t looked_at = 0;
  std::uint32_t placed = 0;       // Member::placing that this thread has followed
  std::uint32_t shown = 0;        // Team::placement_number of the last line that OMP_DISPLAY_AFFINITY gave
  std::uint64_t ompt_thread_data = 0;
  void* ompt_codeptr = nullptr;          // return address into the program of the entry point we are in
  std::uint64_t ompt_next_parallel = 0;  // the data of the region that is being forked
  bool in_budget = false;  // one of the program's, and counted in the budget for a region around
  std::int32_t ompt_state = 0;
  bool ompt_yields = false;            // in taskyield
  std::int32_t ompt_barrier_kind = 3;  // ompt_sync_region_barrier_explicit
  std::uint64_t ompt_wait_id = 0;
  std::atomic<struct Explained*> explained{nullptr};  // explain.h

  // Parking: how the pool hands this thread a team. Written by the thread that hires.
  alignas(kCacheLinePair) std::atomic<Member*> hired_as{nullptr};
  std::atomic<bool> retire{false};
  EventCount parked;
  Thread* next_idle = nullptr;  // pool's list, under the pool's lock

  // Behind what is used often.
  LiveLine own_line;

  std::uint64_t tasks_served() const { return live->tasks_run.load(std::memory_order_relaxed); }
  std::uint64_t regions_served() const { return live->regions.load(std::memory_order_relaxed); }
  /// The thread runs one more. How many it has run, then.
  std::uint64_t serve_task() {
    const std::uint64_t served = tasks_served() + 1;
    live->tasks_run.store(served, std::memory_order_relaxed);
    return served;
  }

  static Thread* current();  // never null: an unknown thread is registered
  static Thread* current_or_null();
};

extern thread_local constinit Thread* tls_thread __attribute__((tls_model("initial-exec")));

/// Slow path of current(): makes a Thread for a thread of the program, with a root team.
[[gnu::cold]] Thread* register_root_thread();

inline Thread* Thread::current_or_null() { return tls_thread; }
inline Thread* Thread::current() {
  Thread* self = tls_thread;
  if (HEARTH_UNLIKELY(self == nullptr)) self = register_root_thread();
  return self;
}

// Where assertions are on, a descriptor in a slab is marked.
inline Task* mark_taken(Task* task) {
  if constexpr (HEARTH_ASSERT_LEVEL > 0) {
    HEARTH_ASSERT(task->is(kTaskFree), "the descriptor %p comes from a free list, and is in use (flags %#x)",
                  static_cast<void*>(task), task->flags);
    task->flags = 0;
  }
  return task;
}
inline void mark_free(Task* task) {
  if constexpr (HEARTH_ASSERT_LEVEL > 0) {
    HEARTH_ASSERT(!task->is(kTaskFree), "the descriptor %p is freed twice", static_cast<void*>(task));
    task->flags = kTaskFree;
  }
}

inline Task* allocate_task(Thread* self, std::size_t payload) {
  HEARTH_ASSERT(self == tls_thread, "the slab belongs to thread %d", self->gtid);
  Task* task = self->slab.free[0];
  if (HEARTH_UNLIKELY(payload > Slab::payload_of(0)) || HEARTH_UNLIKELY(task == nullptr))
    return allocate_task_slowly(self, payload);
  self->slab.free[0] = task->next_free;
  return mark_taken(task);
}

inline void free_task(Thread* self, Task* task) {
  HEARTH_ASSERT(self == tls_thread, "the slab belongs to thread %d", self->gtid);
  mark_free(task);
  if (HEARTH_UNLIKELY(task->home != self)) return free_task_slowly(self, task);
  task->next_free = self->slab.free[task->size_class];
  self->slab.free[task->size_class] = task;
}

}  // namespace hearth::rt
