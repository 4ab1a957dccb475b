// How long threads wait for their team: at barriers, at joins, and between regions. Measured only where somebody asks how busy
// threads are (Process::measures_load), as that takes two readings of the clock for each wait.
//
// A thread notes its own waits; who looks at balance reads them at any time, relaxed: a wait that is just ending may be missed or
// counted twice. A worker's wait for the next region is noted before it announces that it has joined the last one, so whoever has
// seen that sees the wait.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/cpu.h"
#include "runtime/state/process.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// Returns what end_wait() is to be given. Waits may be inside each other: a task that runs in a wait may open regions.
inline std::uint64_t begin_wait(Thread* self) {
  if (HEARTH_LIKELY(!process.measures_load)) return 0;
  const std::uint64_t outer = self->waits_since;
  self->waits_since = ticks();
  return outer;
}

inline void end_wait(Thread* self, std::uint64_t outer) {
  if (HEARTH_LIKELY(!process.measures_load) || self->waits_since == 0) return;
  self->waited = self->waited + (ticks() - self->waits_since);
  self->waits_since = outer;
}

/// `help` looks for a task in a wait, and runs it: that time is no waiting.
template <class Help>
inline auto help_in_wait(Thread* self, Help&& help) {
  if (HEARTH_LIKELY(!process.measures_load)) return help();
  const std::uint64_t begin = ticks();
  const auto look = help();
  if (look == decltype(look)::worked && self->waits_since != 0) self->waits_since = self->waits_since + (ticks() - begin);
  return look;
}

}  // namespace hearth::rt
