// Facts of a machine in words, for the text and the JSON of `hearth topo`. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "topology/machine.h"

namespace hearth::cli {

/// "12 MiB", "1.5 GiB"
std::string bytes_text(std::uint64_t bytes);
/// Where it is known from which CPUs and which memory may be used, and why a team is as large as it is.
std::string affinity_source(const topology::Machine& machine);
std::string memory_source(const topology::Machine& machine);
std::string team_reason(const topology::Machine& machine);

}  // namespace hearth::cli
