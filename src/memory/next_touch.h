// Next touch: memory that whoever touches it next shall have. Three ways (docs/decisions/018-next-touch.md says why):
//
//   announced  noted with the areas (areas.h). The runtime, which knows who will touch what, asks add_announced() for the
//              part of a range that waits, moves it, and so ends the announcement.
//   kernel     a policy under which the kernel's automatic balancing moves pages, where that is switched on.
//   trap       pages are closed, and a fault opens and moves them (touch_trap.h).
//
// Any thread. What cannot be had falls back to announced, and one line says so.
#pragma once

#include "memory/areas.h"
#include "memory/migrate.h"

namespace hearth::memory {

enum class Touch : std::uint8_t { announced, kernel, trap };

/// `pages`: whole pages; those that are in no area become areas. invalid: small managed blocks share some.
AreaResult next_touch(placement::ByteRange pages, Touch how);

/// Called for each announcement, after it was noted, by the thread that makes it.
using Announcer = void (*)(placement::ByteRange pages);
void set_announcer(Announcer announcer);

inline constexpr double kAtAnyCost = 0;

/// Adds what of the range's whole pages waits for its next touch to a migration to `to`, and ends its announcement. True:
/// there is something to move. Costs one load where nothing waits.
/// `passes` other than kAtAnyCost is for touches of which there may be many small ones: what is `to` already waits no longer,
/// and what is elsewhere goes on waiting unless a thread there saves more than the move costs when it goes through these bytes
/// `passes` times.
bool add_announced(Migration& migration, placement::ByteRange range, Location to, double passes = kAtAnyCost);

}  // namespace hearth::memory
