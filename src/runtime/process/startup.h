// Start-up, and giving resources back.
//
// initialize() runs once: at load, or on the first call into the library if that comes earlier. Any thread may call it.
#pragma once

namespace hearth::rt {

struct Thread;

void initialize();

/// omp_pause_resource: give the calling root thread's workers and all pooled threads back to the system.
/// False inside a region.
bool pause_resources(Thread* self);

}  // namespace hearth::rt
