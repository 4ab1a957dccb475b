// How tasks use the blocks of allocation sites (memory/sites.h). Called by the thread that has run the task.
#pragma once

#include "placement/need.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// The task has ended at `here`, and took so long (ns). It has a footprint.
[[gnu::cold]] void note_site_uses(const Thread* self, const Task* task, placement::Location here, std::uint64_t time);

}  // namespace hearth::rt
