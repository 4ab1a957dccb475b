// Tasks without clauses: looking at them, and giving them a footprint where their construct has shown where their data is.
//
// What is concluded stands in policy/silent.h. Here the words of a task's arguments are read, which are the task's own
// memory, and never followed; the kernel is asked where what they point to is. Looked at are all tasks of a construct that is
// new, and few of one that has shown nothing. One table for the process, since a construct is met again in other regions and
// teams; any thread, relaxed, since an entry is valid from the start.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cpu.h"
#include "runtime/state/function_hash.h"
#include "runtime/state/process.h"
#include "runtime/state/thread.h"

namespace hearth::rt::silent {

/// A bit for each construct that is followed, by a hash of its function: read by all, written rarely.
extern std::atomic<std::uint64_t> followed;
inline std::uint64_t followed_bit(const void* function) { return std::uint64_t{1} << function_hash(function) % 64; }
/// Tasks with this function may get a footprint by look().
inline bool is_followed(const void* function) {
  const std::uint64_t all = followed.load(std::memory_order_relaxed);
  return HEARTH_UNLIKELY(all != 0) && (all & followed_bit(function)) != 0;
}

/// A task that was made and has no footprint: it may get one (kTaskFootprint), or be noted to be watched (kTaskWatched).
void look(Thread* self, Task* task);
inline void consider(Thread* self, Task* task) {
  Member* const member = self->member;
  if (HEARTH_LIKELY(--member->silence != 0) && HEARTH_LIKELY(!is_followed(task->function_of_program()))) return;
  look(self, task);
}

/// A task that look() has noted or given a footprint is over, here. `time`: ns; 0: it has run others meanwhile.
void ran(Thread* self, const Task* task, std::uint64_t time);

}  // namespace hearth::rt::silent
