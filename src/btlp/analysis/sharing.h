// Which threads share which data, from the accesses that a walk has collected: the edges of the communication graph.
#pragma once

#include "btlp/analysis/model.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {

/// Fills program.edges and what the nodes say of code that was not seen. The walk has run.
void find_sharing(Walk& walk, Program& program, Progress& progress);

}  // namespace hearth::btlp
