// Where things are, for tools: the part of hearth/ompt.h that tells of the machine and of memory.
#pragma once

#include "hearth/omp-tools.h"

namespace hearth::rt::events {

/// The function of that name, or null.
ompt_interface_fn_t lookup_places(const char* name);
/// No tool is told any more where bytes are.
void forget_places();

}  // namespace hearth::rt::events
