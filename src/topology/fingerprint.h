// One number for a machine as this process may use it: what was learned on it holds on no other.
#pragma once

#include <cstdint>

#include "topology/machine.h"

namespace hearth::topology {

/// Of its name, locations with their CPUs and caches, and the distances between them; the same in every process that may
/// use the same of it. Never 0.
std::uint64_t fingerprint(const Machine& machine);

}  // namespace hearth::topology
