// Is what is known of the tasks' memory still true? Pages of footprints that were dealt lately are held against the kernel.
//
// Memory that Hearth does not manage can be unmapped and remapped without its knowledge. Any member; wrong answers cost time.
#pragma once

#include "runtime/locality/team_locality.h"
#include "runtime/state/footprint_ranges.h"

namespace hearth::rt {

/// A task of the region `epoch` is about to be dealt: checks once a region, and keeps a page of its footprint for later.
void check_before_dealing(TeamLocality& all, std::uint32_t epoch, const Footprint& footprint, std::uint32_t turn);
/// For a member that has found no work: checks now and then.
void check_when_idle(TeamLocality& all);

}  // namespace hearth::rt
