// A target as Scotch's `tleaf` has it: also for the tests, which give it to Scotch's own command.
#pragma once

#include <vector>

#include "mappers/target.h"

namespace hearth::mappers {

struct ScotchTree {
  std::vector<int> sizes;   // parts of a unit, by level
  std::vector<int> links;   // hops between leaves of different parts
  std::vector<int> number;  // of each leaf of the target in that tree
};
ScotchTree scotch_tree(const Target& target);

}  // namespace hearth::mappers
