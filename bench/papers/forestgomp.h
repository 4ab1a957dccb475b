// Broquedis et al. 2009, section 4: STREAM, nested STREAM and twisted STREAM on four nodes of four cores, by
// plain cost rules (stream.h).
//
// Cells are bandwidths in MB/s as STREAM counts them (what a loop names, no fills), times in nanoseconds, and
// numbers of passes after which a migration has paid.
#pragma once

#include "papers/cells.h"

namespace hearth::papers {

Cells forestgomp(const Visit& visit);

}  // namespace hearth::papers
