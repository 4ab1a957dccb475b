// The costs of this machine: one CostModel for the API, the policies and our own migrations, which correct it.
//
// Filled at the first call, from what `hearth topo --measure --keep` has left for this machine, else from
// topology::machine(); any thread. Readers and observe_migration() may run side by side
// (cost.h says how).
#pragma once

#include "placement/cost.h"

namespace hearth::memory {

placement::CostModel& costs();

}  // namespace hearth::memory
