// The machine as policies see it.
//
// Worked out at the first call, by any thread, then constant.
#pragma once

#include "placement/need.h"
#include "policy/machine_tables.h"
#include "policy/task_policy.h"

namespace hearth::rt {

using placement::Location;

const policy::MachineTables& machine_tables();
inline const policy::MachineView& machine_view() { return machine_tables().view; }
/// The locations by rising distance from `from`, itself first.
const Location* locations_near(Location from);

/// At start-up: where threads are is asked whatever the policy, by hearth_location() and for memory that is placed by its caller.
void locate_threads_of_pretended_machine();

/// Whether the policy of the process deals tasks to locations here: it does so at all, and there are several.
bool several_locations();

}  // namespace hearth::rt
