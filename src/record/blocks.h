// What became of the blocks that a process allocated: frees and homes find the block that was at their
// address then.
#pragma once

#include "record/process_assembly.h"
#include "record/times.h"

namespace hearth::record {

/// When all threads of the process are read; times are still ticks. Puts its allocations into the order of time.
void match_blocks(ProcessAssembly& assembly, const Marks& from);

}  // namespace hearth::record
