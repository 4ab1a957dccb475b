// The words of options whose values are printed again: parse.cpp reads them, text.cpp writes them.
#pragma once

#include <string_view>

#include "placement/distribution.h"

namespace hearth::rt {

// OMP_DATA_DISTRIBUTION. Those that need no argument; HEARTH_DISTRIBUTE takes all but the last, which is no choice for malloc's
// blocks.
inline constexpr placement::Kind kDistributions[] = {placement::Kind::standard, placement::Kind::fine,
                                                     placement::Kind::coarse, placement::Kind::blocked,
                                                     placement::Kind::nearest};
inline constexpr std::string_view kLearnName = "learn", kWeightedName = "weighted";  // of HEARTH_DISTRIBUTE only
inline constexpr std::string_view kDistributionNames[] = {"standard", "fine", "coarse", "blocked", "nearest"};

}  // namespace hearth::rt
