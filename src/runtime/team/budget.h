// The budget of threads that this process shares with others (HEARTH_THREAD_BUDGET; base/thread_budget.h has the protocol).
//
// start() is called by start-up. take() and give() are called by the primary thread of a region, at its begin and end, by any
// number of threads at once: a lock of this process orders them. The page is joined at the first region, and by a child by
// fork() at its own first one. Where there is no page, that is said once, and every region gets what it asks for.
#pragma once

#include <cstdint>

#include "runtime/state/thread.h"

namespace hearth::rt::budget {

/// What a region has got. `has_primary`: the primary thread is one of `threads`; else a region around holds it, or nobody does.
struct Part {
  bool asked = false, has_primary = false;
  std::int32_t threads = 0;
};

/// Sets process.has_budget where the user asks for one and the page can be had.
void start();
/// The size, at least 1, that a region of `size` threads gets; note() has to follow, once its team is known.
std::int32_t take(Thread* self, std::int32_t size, Part& part);
void note(Team* team, const Part& part);
/// The region of `team` has ended.
void give(Thread* self, Team* team);
/// The process ends: all is given back, and regions of threads that still run are not counted.
void leave();
/// In a child by fork(): what the parent has is the parent's.
void forget_after_fork();

}  // namespace hearth::rt::budget
