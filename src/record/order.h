// The order of tasks: numbers, keys and paths that are the same in every run that makes the same tasks, and
// what the dependences among siblings amount to.
#pragma once

#include "record/recording.h"

namespace hearth::record {

/// Sets anchors, numbers, keys and edges, and puts tasks and regions into the order of their paths.
void order(Recording& recording);

}  // namespace hearth::record
