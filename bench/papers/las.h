// Muddukrishna et al. 2015, section 6: six benchmarks on eight nodes (figure 7), and four on 63 tiles with
// home caches (figures 9 to 11), by the simulator.
//
// Cells are times in nanoseconds.
#pragma once

#include "papers/cells.h"

namespace hearth::papers {

Cells figure_7(const Visit& visit);
Cells figure_9(const Visit& visit);

}  // namespace hearth::papers
