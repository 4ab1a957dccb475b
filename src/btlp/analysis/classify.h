// The classes of threads and the communication tree, from the edges: Algorithm 1 as printed, repaired, and ours. Pure.
#pragma once

#include <set>

#include "btlp/analysis/model.h"

namespace hearth::btlp {

/// Fills type, parent, in_tree and reasons of the nodes for program.mode.
void classify(Program& program);

/// Joins the threads that one call in the source creates (Gap::thread_per), before classify().
void one_thread_per_creation(Program& program);
/// Where this thread gets its CPUs, of what was asked for.
Insertion insertion_of(const Program& program, const Node& node);

/// Which answers the support library needs to know (support/plan.h).
unsigned running_rules(const Program& program);

/// Whom this thread shares data with; itself, when its instances share among each other. `strong`: only where
/// sharing is
/// part of the innermost work.
std::set<int> partners_of(const Program& program, int node, bool strong);
/// What they share, in order of the edges.
std::vector<std::string> shared_by(const Program& program, int node);

}  // namespace hearth::btlp
