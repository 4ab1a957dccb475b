// Hearth's calls that say who uses which memory, as weak symbols: a program that runs on another runtime finds them
// absent and goes without.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "hearth/memory.h"

#pragma weak hearth_location
#pragma weak hearth_mem_attach
#pragma weak hearth_mem_migrate
#pragma weak hearth_mem_follow
#pragma weak hearth_mem_next_touch
#pragma weak hearth_affinity

/// The calls that move memory are there.
static inline bool moves_answered(void) { return hearth_location && hearth_mem_migrate && hearth_mem_next_touch; }

/// And those that say who uses what.
static inline bool hints_answered(void) {
  return moves_answered() && hearth_mem_attach && hearth_mem_follow && hearth_affinity;
}
