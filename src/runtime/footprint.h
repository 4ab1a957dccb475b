// A task's footprint: the byte ranges that it touches, as far as its depend and affinity clauses tell.
//
// Made by the creator before the task is published, read by whoever deals it, dropped with its descriptor. Only teams
// that deal tasks to locations make any (neighbourhood.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/need.h"
#include "runtime/depend.h"
#include "runtime/thread.h"

namespace hearth::rt {

struct FootprintRange {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  placement::Access access = placement::Access::read_write;
  bool inferred = false;  // the length is a guess
};

struct Footprint {
  std::uint32_t count = 0;
  bool stated = false;     // by an affinity clause, which says where the task should be and nothing else
  bool untouched = false;  // some of it had no page yet when the task was dealt: whoever runs it places it
  FootprintRange ranges[1];  // `count` of them
};

/// Gives the task a footprint with room for `count` ranges, all of them to be filled by the caller; null when memory is
/// refused, or when it has one already. It is a hint and nothing more.
Footprint* make_footprint(Task* task, std::size_t count);
/// What the depend clause says, unless an affinity clause has said better. gcc passes no lengths: they are inferred.
void take_footprint_from(Thread* self, Task* task, const Dependence* list, std::size_t count);

/// The bytes by location. Asks the kernel about memory that was never seen.
void resolve(Footprint& footprint, placement::Need& need);

/// The task has run, here, and its footprint is not needed any more.
void drop_footprint(Task* task);

}  // namespace hearth::rt
