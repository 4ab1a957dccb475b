// The implicit task of a member: its share of a region.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// Start an implicit task in the member's slot. By the thread of that member.
void begin_implicit_task(Thread* self, Member* member);
/// Go to the place that place_team() has chosen for the member.
void move_to_place(Thread* self, Member* member);

}  // namespace hearth::rt
