// Hearth's calls that say who uses which memory, as weak symbols: a program that is linked with another runtime finds
// them absent and goes without. Declared here, so that the programs compile without Hearth's headers.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { HEARTH_NOW, HEARTH_WHEN_ALL };
enum { HEARTH_READ = 1, HEARTH_WRITE = 2, HEARTH_READ_WRITE = 3 };
enum { HEARTH_THREAD, HEARTH_TEAM, HEARTH_NEXT_TEAM };
enum { HEARTH_TOUCH_ANNOUNCED, HEARTH_TOUCH_KERNEL, HEARTH_TOUCH_TRAP };

#define FOREST_WEAK __attribute__((weak))
int hearth_location(void) FOREST_WEAK;
int hearth_mem_attach(void* begin, size_t bytes, int who, int access, double passes) FOREST_WEAK;
int hearth_mem_detach(void* begin, int who) FOREST_WEAK;
int hearth_mem_migrate(void* begin, size_t bytes, int location) FOREST_WEAK;
int hearth_mem_follow(int who) FOREST_WEAK;
int hearth_mem_next_touch(void* begin, size_t bytes, int how) FOREST_WEAK;
int hearth_affinity(void* begin, size_t bytes, int access, int when) FOREST_WEAK;
#undef FOREST_WEAK

/// All of the calls above are there.
static inline bool hints_answered(void) {
  return hearth_location && hearth_mem_attach && hearth_mem_detach && hearth_mem_migrate && hearth_mem_follow &&
         hearth_mem_next_touch && hearth_affinity;
}
