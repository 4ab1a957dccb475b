// The classes of threads and the communication tree, from the edges: Algorithm 1 as printed, repaired, and ours. Pure.
#pragma once

#include <set>

#include "btlp/analysis/model.h"

namespace hearth::btlp {

/// Fills type, parent, in_tree and reasons of the nodes for program.mode.
void classify(Program& program);

/// Whom this thread shares data with; itself, when its instances share among each other. `strong`: only where
/// sharing is
/// part of the innermost work.
std::set<int> partners_of(const Program& program, int node, bool strong);
/// What they share, in order of the edges.
std::vector<std::string> shared_by(const Program& program, int node);

}  // namespace hearth::btlp
