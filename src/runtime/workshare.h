// Worksharing constructs with state that the team shares.
#pragma once

#include "runtime/team.h"

namespace hearth::rt {

/// Between regions, by the primary thread: the next region counts its worksharing constructs from the start.
void reset_workshares(Team* team);
void free_workshares(Team* team);

}  // namespace hearth::rt
