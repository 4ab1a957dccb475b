// Figures 2 and 3 of Broquedis et al. 2009: Twisted-STREAM, whose teams find all of their vectors, or two of three, with
// another team in phase 2. Every plan that the paper shows, what the policies would choose, and how well they foresee it.
#pragma once

#include <cstdint>

#include "papers/cells.h"
#include "stream.h"

namespace hearth::papers {

/// Enters cells that begin with "figure 2/" and "figure 3/". `vector_bytes`: of all teams together; a team for each node.
void figures(const Visit& visit, const sim::StreamMachine& streams, double vector_bytes, std::uint32_t team_threads,
             Cells& cells);

}  // namespace hearth::papers
