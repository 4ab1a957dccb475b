// Whether the machine has several locations at all. Any thread, after the settings are read.
#pragma once

namespace hearth::rt {

/// Looks at the machine, which takes milliseconds on large ones, only if the kernel tells of more than one node or the user
/// has described a machine.
bool has_several_locations();

}  // namespace hearth::rt
