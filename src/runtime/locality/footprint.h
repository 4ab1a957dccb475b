// A task's footprint: the byte ranges that it touches, as far as its clauses tell, or calls of the program.
//
// Made by the creator before the task is published, read by whoever deals it, dropped with its descriptor.
// Only teams that deal tasks to locations make any (team_locality.h), and all teams while a tool reads them.
// What calls say of the next task is kept at the task that says it, touched by its thread only, until it
// makes a task: take_announced().
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/need.h"
#include "runtime/state/dependence.h"
#include "runtime/state/footprint_ranges.h"
#include "runtime/state/thread.h"
#include "runtime/tools/events.h"

namespace hearth::rt {

/// Somebody reads the footprints of tasks that this thread makes: who deals them, or a tool.
inline bool wants_footprints(const Thread* self) {
  return self->team->locality != nullptr || events::wants_footprints();
}

/// Gives the task a footprint with room for `count` ranges, all of them to be filled by the caller; null when
/// memory is refused, or when it has one already. It is a hint and nothing more.
Footprint* make_footprint(Task* task, std::size_t count);
/// Not a footprint: room for what is to be known of the task when it is over (kTaskWatched).
Footprint* note_watched(Task* task, std::size_t room);

/// The footprint that the program states by an affinity clause: range_at(i) for i < count, which must not be 0. It wins over what
/// the depend clause says. Nothing happens where nobody reads footprints.
template <class RangeAt>
void state_footprint(Thread* self, Task* task, std::size_t count, RangeAt range_at) {
  if (!wants_footprints(self)) return;
  Footprint* footprint = make_footprint(task, count);
  if (footprint == nullptr) return;
  footprint->stated = true;
  for (std::size_t i = 0; i < count; ++i) footprint->ranges[i] = range_at(i);
}
/// What the depend clause says, unless an affinity clause or a call has said better. gcc passes no lengths:
/// they are inferred.
void take_footprint_from(Thread* self, Task* task, const Dependence* list, std::size_t count);

/// One more range of the task that the current task makes next. The first kMostAnnounced count.
inline constexpr std::uint32_t kMostAnnounced = 1024;
/// Room for it, or null.
[[gnu::cold]] Footprint* room_for_announcement(Task* task);
inline void announce(Thread* self, const FootprintRange& range) {
  Task* task = self->task;
  Footprint* all = task->is(kTaskAnnounced) ? task->announced : nullptr;
  if (all == nullptr || all->count == all->room) all = room_for_announcement(task);
  if (all == nullptr) return;
  all->marked |= range.decides;
  all->ranges[all->count++] = range;
}
/// What `parent` has announced is the footprint of `task`, which it has just made.
[[gnu::cold]] void take_announced(Task* parent, Task* task);
void drop_announced(Task* parent);

/// What was announced for the tasks of a taskloop, while the construct makes them; empty when nothing was.
class LoopFootprint {
 public:
  /// Clang's pattern of the tasks has taken it as its own footprint; under gcc the current task still has it.
  static LoopFootprint of_pattern(Task* pattern);
  static LoopFootprint announced_by(Task* task);
  ~LoopFootprint();
  LoopFootprint(const LoopFootprint&) = delete;
  LoopFootprint& operator=(const LoopFootprint&) = delete;

  explicit operator bool() const { return all_ != nullptr; }
  /// The task runs these iterations of the loop, counted from 0 in the loop's order.
  void give(Task* task, std::uint64_t first, std::uint64_t iterations) const;

 private:
  explicit LoopFootprint(Footprint* all) : all_(all) {}
  Footprint* all_;
};

/// The bytes by location. Asks the kernel about memory that was never seen.
void resolve(Footprint& footprint, placement::Need& need);

/// The calling thread is about to run a task with this footprint: what of it waits for its next touch comes here, if it pays.
[[gnu::cold]] void fetch_announced(Thread* self, const Footprint& footprint);

/// It is decided where the task should run, which is not published yet. Its footprint goes, if nobody needs it any more: so
/// it is memory of the thread that has made it, as a rule, and whoever runs the task touches a line less for each range.
void drop_decided_footprint(Task* task);
/// A tool has heard of the footprint, if there is one: it goes as well, where nobody deals by it.
void drop_told_footprint(Thread* self, Task* task);
/// The task has run, here, and its footprint, or what was noted of it, is not needed any more.
void drop_footprint(Task* task);

}  // namespace hearth::rt
