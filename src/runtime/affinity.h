// Which place each thread of a team runs on (OpenMP 5.2, section 10.1.3).
#pragma once

#include "runtime/thread.h"

namespace hearth::rt {

/// Whether threads are bound at all (OMP_PROC_BIND, OMP_PLACES, or a proc_bind clause that was met).
bool affinity_active();
/// Give every member of the team its place and place partition for the region that begins.
void place_team(Team* team, std::int32_t proc_bind);
/// Bind the calling thread. A refused call is said once.
void bind_to_place(Thread* self, std::int32_t place);

}  // namespace hearth::rt
